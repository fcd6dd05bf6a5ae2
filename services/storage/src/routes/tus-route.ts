import type { MountedRoute } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import { TUS_RESUMABLE } from '@tus/server';
import type { Links } from '../links.ts';
import type { Progress } from '../resumable/resumable-uploads.ts';
import type { Resumable } from '../resumable/rows.ts';

/** A route of the protocol: each of its answers, failures too, names the version. */
export const tusRoute = ({ definition, middleware }: MountedRoute): MountedRoute => ({
  definition,
  middleware(context) {
    const answer = middleware(context);
    return (req, res, next) => {
      res.setHeader('Tus-Resumable', TUS_RESUMABLE);
      return answer(req, res, next);
    };
  },
});

export const expiryOf = ({ expiresAt }: Resumable): Record<string, string> => ({
  'Upload-Expires': expiresAt.toUTCString(),
});

export const fileOf = (links: Links, { project }: Identity, upload: Resumable) => {
  const { id, name, sizeBytes: size } = upload;
  const place = { projectId: project.id, projectNumber: project.number, fileId: id, name };
  return upload.isFinished ? { id, url: links.to(place), name, size } : null;
};

/** Where an upload stands, and what file it has become. */
export const progressHeaders = (
  links: Links,
  identity: Identity,
  upload: Progress,
): Record<string, string> => {
  const file = fileOf(links, identity, upload);
  return {
    ...expiryOf(upload),
    'Upload-Offset': String(upload.offset),
    ...(file && { 'X-File-Id': file.id, 'X-File-Url': file.url }),
  };
};
