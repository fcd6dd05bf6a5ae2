import type { IncomingMessage } from 'node:http';
import { storageRoutes } from '@backlot/contract';
import { discardBody, type MountedRoute, route } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import { chargeFor } from '@backlot/service';
import { TUS_RESUMABLE } from '@tus/server';
import type { Links } from '../files/links.ts';
import { createPartBody } from '../resumable/append.ts';
import type { ResumableUpload } from '../resumable/resumable-rows.ts';
import type { Progress } from '../resumable/resumable-uploads.ts';
import {
  bytesType,
  checkVersion,
  parseCreationHeaders,
  parsePartHeaders,
} from '../resumable/tus-headers.ts';
import type { Features } from './features.ts';
import { describeFile } from './uploads.ts';

/** Every answer, failures too, names the version of the protocol. */
const tusRoute = ({ definition, middleware }: MountedRoute): MountedRoute => ({
  definition,
  middleware(context) {
    const answer = middleware(context);
    return (req, res) => {
      res.setHeader('Tus-Resumable', TUS_RESUMABLE);
      return answer(req, res);
    };
  },
});

const expiryHeader = ({ expiresAt }: ResumableUpload) => ({
  'Upload-Expires': expiresAt.toUTCString(),
});

const describeProgress = (links: Links, { project }: Identity, upload: Progress) => {
  const file = upload.isFinished ? describeFile(links, project, upload) : null;
  const headers: Record<string, string> = {
    ...expiryHeader(upload),
    'Upload-Offset': String(upload.offset),
    ...(file && { 'X-File-Id': file.id, 'X-File-Url': file.url }),
  };
  return { file, headers };
};

/** Waits for the first byte, or the end, of a body that does not say its length. */
const sendsBytes = async (req: IncomingMessage): Promise<boolean> => {
  const { headers } = req;
  if (headers['content-type'] !== bytesType) return false;
  if (headers['transfer-encoding'] === undefined) return headers['content-length'] !== '0';
  try {
    for await (const _chunk of req.iterator({ destroyOnReturn: false })) return true;
    return false;
  } catch {
    // The caller has gone.
    return true;
  }
};

export const createResumable = ({ resumableUploads, links }: Features) =>
  tusRoute(
    route(
      storageRoutes.createResumable,
      async ({ header, identity, rawBody }) => {
        const newUpload = parseCreationHeaders(header, rawBody.value === true);
        const upload = await resumableUploads.create(identity, newUpload);
        const { id, expiresAt } = upload;
        const isFinished = upload.sizeBytes === 0;
        const progress = { ...upload, offset: 0, isFinished };
        const { file, headers } = describeProgress(links, identity, progress);
        const used = isFinished ? chargeFor(identity, storageRoutes.uploadPrice, 0) : undefined;
        return {
          body: { id, expiresAt: expiresAt.toISOString(), file },
          // Relative: only the gateway knows the address.
          headers: { Location: `tus/${id}`, ...headers },
          ...(isFinished && { commit: () => resumableUploads.finishEmpty(identity, upload) }),
          ...(used === undefined ? {} : { usedMillicredits: used }),
        };
      },
      {
        isSlow: true,
        // No body: where an Idempotency-Key comes twice, these headers are compared.
        receive: async (req) => ({
          value: await sendsBytes(req),
          text: JSON.stringify([req.headers['upload-length'], req.headers['upload-metadata']]),
        }),
      },
    ),
  );

export const getResumable = ({ resumableUploads, links }: Features) =>
  tusRoute(
    route(storageRoutes.getResumable, async ({ params, header, identity }) => {
      // A plain GET need not name the version.
      checkVersion(header('tus-resumable') ?? TUS_RESUMABLE);
      const upload = await resumableUploads.getProgress(identity, params.id);
      const { id, offset, sizeBytes: length, expiresAt, metadata } = upload;
      const { file, headers } = describeProgress(links, identity, upload);
      return {
        body: { id, offset, length, expiresAt: expiresAt.toISOString(), file },
        headers: {
          ...headers,
          'Upload-Length': String(length),
          ...(metadata !== '' && { 'Upload-Metadata': metadata }),
          'Cache-Control': 'no-store',
        },
      };
    }),
  );

export const appendResumable = ({ resumableUploads, links, config }: Features) =>
  tusRoute(
    route(
      storageRoutes.appendResumable,
      async ({ params, header, rawBody, identity }) => {
        const req = rawBody.value as IncomingMessage;
        const { usedMillicredits, ...upload } = await resumableUploads.append(
          identity,
          params.id,
          parsePartHeaders(header),
          (missingBytes, place, stop) =>
            createPartBody(req, missingBytes, { place, idleMs: config.uploadIdleMs }, stop),
        );
        return {
          body: undefined,
          headers: describeProgress(links, identity, upload).headers,
          ...(usedMillicredits === undefined ? {} : { usedMillicredits }),
        };
      },
      {
        receive: async (req) => ({
          value: req,
          text: '',
          // The rest of a part that is refused or stopped; the answer must not wait for it.
          release: async () => void discardBody(req),
        }),
      },
    ),
  );

export const deleteResumable = ({ resumableUploads }: Features) =>
  tusRoute(
    route(storageRoutes.deleteResumable, async ({ params, header, identity }) => {
      checkVersion(header('tus-resumable'));
      await resumableUploads.terminate(identity, params.id);
      return { body: undefined };
    }),
  );
