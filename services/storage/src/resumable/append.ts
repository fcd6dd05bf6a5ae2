import type { IncomingMessage } from 'node:http';
import { Readable, Transform } from 'node:stream';
import { ApiError, KIB } from '@backlot/contract';
import { type DataStore, type Locker, Server, TUS_RESUMABLE } from '@tus/server';
import { BlobNotFound } from '../blob-store/blob-store.ts';
import { uploadNotFound } from '../upload/opened.ts';
import { pipeBody } from '../upload/pipe-body.ts';
import type { Stated } from './tus-headers.ts';

/** Adds bytes to a blob, and answers how many it has then. @throws ApiError conflict, body_too_large, not_found */
export type Append = (blobKey: string, stated: Stated, body: Readable) => Promise<number>;

/**
 * What comes of a body. It ends, rather than fails, where the caller goes, falls silent or has to make
 * room, so that what came is kept. What makes the upload whole counts once the body has ended: no file
 * is made, and booked, by a call whose reservation the gateway gives back.
 * @param missing bytes
 */
export const comingIn = (
  req: IncomingMessage,
  missing: number,
  idleMs: number,
  isAwaited: AbortSignal,
): Readable => {
  let came = 0;
  let last: Buffer | undefined;
  const body = new Transform({
    highWaterMark: 256 * KIB,
    transform(chunk: Buffer, _encoding, done) {
      came += chunk.length;
      // More than is missing is refused in one piece.
      const passed: Buffer = last ? Buffer.concat([last, chunk]) : chunk;
      last = came === missing ? passed : undefined;
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
  pipeBody(req, body, idleMs, { onGone: end, onSilence: end });
  isAwaited.addEventListener('abort', end, { once: true });
  body.once('close', () => isAwaited.removeEventListener('abort', end));
  return body;
};

/** Whoever appends has had to wait for the turn. */
const noLocker: Locker = { newLock: () => ({ lock: async () => {}, unlock: async () => {} }) };

export const wrongOffset = (): ApiError =>
  new ApiError('conflict', '"Upload-Offset": is not where the upload stands.', {
    hint: 'Ask by HEAD how far it has come.',
  });

/** tus throws objects with a status. */
const statusOf = (error: unknown): unknown => Object(error).status_code;

const translate = (error: unknown): unknown => {
  if (error instanceof BlobNotFound) return uploadNotFound();
  if (statusOf(error) === 409) return wrongOffset();
  if (statusOf(error) === 413)
    return new ApiError('body_too_large', 'More bytes came than "Upload-Length" has said.');
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
    const reached = response.headers.get('upload-offset');
    if (response.ok && reached !== null) return Number(reached);
    throw translate(failures.get(request) ?? new Error(await response.text()));
  };
};
