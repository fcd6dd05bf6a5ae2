import type { IncomingMessage } from 'node:http';
import { Readable, Transform } from 'node:stream';
import { ApiError, KIB } from '@backlot/contract';
import { type DataStore, type Locker, Server, TUS_RESUMABLE } from '@tus/server';
import { BlobNotFound } from '../blob-store/blob-store.ts';
import { uploadNotFound } from '../upload/open-uploads.ts';
import { type BodyOptions, pipeBody } from '../upload/pipe-body.ts';
import type { PartHeaders } from './tus-headers.ts';

/** Adds bytes to a blob; answers its new size. @throws ApiError conflict, body_too_large, not_found */
export type Append = (blobKey: string, part: PartHeaders, body: Readable) => Promise<number>;

/**
 * The body of a part. It ends, rather than fails, where the caller goes, falls silent, gives way or has to stop,
 * so that the bytes that came are kept. The bytes that complete the upload are passed on only once the
 * request has ended: no file is made, and booked, by a call whose reservation the gateway gives back.
 */
export const createPartBody = (
  req: IncomingMessage,
  missingBytes: number,
  options: BodyOptions,
  stop: AbortSignal,
): Readable => {
  let receivedBytes = 0;
  let last: Buffer | undefined;
  const body = new Transform({
    highWaterMark: 256 * KIB,
    transform(chunk: Buffer, _encoding, done) {
      receivedBytes += chunk.length;
      // More bytes than are missing are refused in one piece.
      const passed: Buffer = last ? Buffer.concat([last, chunk]) : chunk;
      last = receivedBytes === missingBytes ? passed : undefined;
      done(null, last ? undefined : passed);
    },
    flush(done) {
      done(null, req.complete ? last : undefined);
    },
  });
  const end = () => {
    req.unpipe(body);
    body.end();
  };
  pipeBody(req, body, options, { onGone: end, onSilence: end, onGiveWay: end });
  stop.addEventListener('abort', end, { once: true });
  body.once('close', () => stop.removeEventListener('abort', end));
  return body;
};

/** UploadLock locks, for all processes. */
const noLocker: Locker = { newLock: () => ({ lock: async () => {}, unlock: async () => {} }) };

export const wrongOffset = (): ApiError =>
  new ApiError('conflict', '"Upload-Offset": is not the current offset of the upload.', {
    hint: 'Ask for it by HEAD.',
  });

/** tus throws objects with a status. */
const tusStatus = (error: unknown): unknown => Object(error).status_code;

const translate = (error: unknown): unknown => {
  if (error instanceof BlobNotFound) return uploadNotFound();
  if (tusStatus(error) === 409) return wrongOffset();
  if (tusStatus(error) === 413)
    return new ApiError('body_too_large', 'The body has more bytes than "Upload-Length" leaves.');
  return error;
};

export const createAppend = (datastore: DataStore): Append => {
  const failures = new WeakMap<object, unknown>();
  const server = new Server({
    path: '/',
    datastore,
    locker: noLocker,
    getFileIdFromRequest: ({ url }) => new URL(url).pathname.slice(1),
    onResponseError(request, error) {
      failures.set(request, error);
      return undefined;
    },
  });

  return async (blobKey, { offset, length }, body) => {
    const request = new Request(`http://storage/${blobKey}`, {
      method: 'PATCH',
      headers: {
        'tus-resumable': TUS_RESUMABLE,
        'content-type': 'application/offset+octet-stream',
        'upload-offset': String(offset),
        ...(length === undefined ? {} : { 'content-length': String(length) }),
      },
      body: Readable.toWeb(body),
      duplex: 'half',
    });
    const response = await server.handleWeb(request).finally(() => body.destroy());
    const newOffset = response.headers.get('upload-offset');
    if (response.ok && newOffset !== null) return Number(newOffset);
    throw translate(failures.get(request) ?? new Error(await response.text()));
  };
};
