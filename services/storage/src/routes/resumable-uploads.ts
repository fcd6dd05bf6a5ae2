import type { IncomingMessage } from 'node:http';
import { storageRoutes } from '@backlot/contract';
import { discardBody, type MountedRoute, route } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import { TUS_RESUMABLE } from '@tus/server';
import type { Links } from '../files/links.ts';
import { createPartBody } from '../resumable/append.ts';
import type { ResumableUpload } from '../resumable/resumable-rows.ts';
import type { Progress } from '../resumable/resumable-uploads.ts';
import { checkVersion, parseCreationHeaders, parsePartHeaders } from '../resumable/tus-headers.ts';
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

export const createResumable = ({ resumableUploads }: Features) =>
  tusRoute(
    route(
      storageRoutes.createResumable,
      async ({ header, identity }) => {
        const upload = await resumableUploads.create(identity, parseCreationHeaders(header));
        const { id, expiresAt } = upload;
        return {
          body: { id, expiresAt: expiresAt.toISOString() },
          // Relative: only the gateway knows the address.
          headers: { Location: `tus/${id}`, ...expiryHeader(upload) },
        };
      },
      {
        isSlow: true,
        // No body: where an Idempotency-Key comes twice, these headers are compared.
        receive: async ({ headers }) => ({
          value: undefined,
          text: JSON.stringify([headers['upload-length'], headers['upload-metadata']]),
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
