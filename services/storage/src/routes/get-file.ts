import type { OutgoingHttpHeaders } from 'node:http';
import { parse } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ApiError, storageRoutes } from '@backlot/contract';
import { freeWhenSent, identify, type MountedRoute, validate } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import type { Request, Response } from 'express';
import { mayRead } from '../access.ts';
import { BlobNotFound, type DirectAccess } from '../blob-store/blob-store.ts';
import { type File, fileNotFound } from '../files.ts';
import { type Image, isAsked } from '../images/images.ts';
import type { Signature } from '../links.ts';
import type { Nouns } from '../nouns.ts';
import { type Content, servingOf } from '../serving.ts';

const definition = storageRoutes.getFile;

/**
 * Public files open to all, whatever credential comes along. For others, and for those that do not
 * exist, an address that is no good and a credential that is no good are refused as such.
 * @throws ApiError forbidden, invalid_token, not_found
 */
const openTo = (
  identity: Identity,
  file: File | null,
  isSigned: boolean,
  { signature }: Signature,
): File => {
  if (file?.visibility === 'public') return file;
  if (signature !== undefined && !isSigned)
    throw new ApiError('forbidden', 'This address is not valid, or no longer.');
  if (identity.hasBadCredential)
    throw new ApiError('invalid_token', 'The credential is not valid here, or it has expired.');
  if (!file || !(isSigned || mayRead(identity, file))) throw fileNotFound();
  return file;
};

const contentOf = (file: File): Content => ({
  name: file.name,
  mediaType: file.mediaType,
  sizeBytes: file.sizeBytes,
  version: file.sha256?.toString('base64url') ?? file.id,
  createdAt: file.createdAt,
  isPublic: file.visibility === 'public',
});

const imageContentOf = (file: File, { mediaType, sizeBytes, variant }: Image): Content => {
  const whole = contentOf(file);
  const name = `${parse(file.name).name}.${mediaType.replace(/.*\//, '')}`;
  return { ...whole, name, mediaType, sizeBytes, version: `${whole.version}-${variant}` };
};

/** How long the address of a redirect is good; it is remembered for half of that. */
const redirectSeconds = 600;

const redirectTo = async (direct: DirectAccess, blobKey: string, headers: OutgoingHttpHeaders) => ({
  location: await direct.presignRead(
    blobKey,
    {
      contentType: String(headers['content-type']),
      contentDisposition: String(headers['content-disposition']),
    },
    redirectSeconds,
  ),
  'cache-control': `private, max-age=${redirectSeconds / 2}`,
});

const send = async (
  req: Request,
  res: Response,
  { store, config }: Pick<Nouns, 'store' | 'config'>,
  blobKey: string,
  content: Content,
) => {
  const serving = servingOf(content, req.method, req.headers);
  if (serving.status === 304 || req.method === 'HEAD') {
    res.writeHead(serving.status, serving.headers).end();
    return;
  }
  if (config.redirects && store.direct) {
    res.writeHead(302, await redirectTo(store.direct, blobKey, serving.headers)).end();
    return;
  }
  // With an end, the store asks for no more than there is.
  const range = serving.range ?? { start: 0, end: content.sizeBytes - 1 };
  const stream = await store.open(blobKey, range).catch((error: unknown) => {
    // It was deleted a moment ago.
    throw error instanceof BlobNotFound ? fileNotFound() : error;
  });
  // The caller has gone meanwhile: a pipeline would throw and leave the stream open.
  if (res.destroyed) {
    stream.destroy();
    return;
  }
  res.writeHead(serving.status, serving.headers);
  freeWhenSent(res);
  await pipeline(stream, res).catch((error: unknown) => {
    // Where the caller has gone there is nobody to be told.
    const { code } = Object(error) as { code?: unknown };
    if (code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  });
};

export const getFile = ({ files, images, links, store, config }: Nouns): MountedRoute => ({
  definition,
  middleware: (context) => async (req, res) => {
    const identity = identify(req, context);
    const { id } = definition.params.parse(req.params);
    const query = definition.query.parse(validate(definition.query, req.query, 'invalid_query'));
    const projectNumber = identity.project.number;
    const isSigned = links.isValid({ projectNumber, fileId: id }, query);
    const found = await files.find(projectNumber, id);
    const file = openTo(identity, found, isSigned, query);
    if (!isAsked(query)) return send(req, res, { store, config }, file.blobKey, contentOf(file));
    const image = await images.get(projectNumber, file, query);
    return send(req, res, { store, config }, image.blobKey, imageContentOf(file, image));
  },
});
