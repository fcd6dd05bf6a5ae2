import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { parse } from 'node:path';
import { Readable } from 'node:stream';
import { ApiError, storageRoutes } from '@backlot/contract';
import { type Requester, toRequester } from '@backlot/fair-shares';
import {
  callerSignal,
  identify,
  type MountedRoute,
  type RouteRequest,
  validate,
} from '@backlot/http';
import type { Identity } from '@backlot/identity';
import {
  BlobNotFound,
  type BlobStore,
  type ByteRange,
  type DirectAccess,
} from '../blob-store/blob-store.ts';
import { type File, fileNotFound } from '../files/file.ts';
import type { Signature } from '../files/links.ts';
import { type Image, type ImageQuery, wantsImage } from '../images/images.ts';
import { pdf, svg } from '../media-types/media-type.ts';
import { type Content, needsPolicy, prepareResponse } from '../response/file-response.ts';
import { sendBody } from '../response/send-body.ts';
import type { Features } from './features.ts';

const definition = storageRoutes.getFile;

/**
 * Public files are open to all, whatever credential is sent. Where the file is private, or does not
 * exist, a bad signature and a bad credential are answered as such.
 * @throws ApiError forbidden, invalid_token, not_found, unavailable
 */
const requireReadable = async (
  identity: Identity,
  file: File | null,
  { signature }: Signature,
  checkSignature: () => Promise<boolean>,
  mayRead: (file: File) => Promise<boolean>,
): Promise<File> => {
  if (file?.visibility === 'public') return file;
  const isSigned = await checkSignature();
  if (signature !== undefined && !isSigned)
    throw new ApiError('forbidden', 'This address is not valid, or no longer.');
  if (identity.hasBadCredential)
    throw new ApiError('invalid_token', 'The credential is not valid here, or it has expired.');
  if (!file || !(isSigned || (await mayRead(file)))) throw fileNotFound();
  return file;
};

const fileContent = (file: File): Content => ({
  name: file.name,
  mediaType: file.mediaType,
  sizeBytes: file.sizeBytes,
  version: file.id,
  createdAt: file.createdAt,
  isPublic: file.visibility === 'public',
});

/** An SVG has every size. */
const isAnswerItself = ({ mediaType }: File, query: ImageQuery): boolean =>
  !wantsImage(query) || (mediaType === svg && query.format === undefined);

const imageContent = (file: File, { mediaType, sizeBytes, variant }: Image): Content => {
  const whole = fileContent(file);
  const name = `${parse(file.name).name}.${mediaType.replace(/.*\//, '')}`;
  return { ...whole, name, mediaType, sizeBytes, version: `${whole.version}-${variant}` };
};

/** How long the address of a redirect is valid; browsers may keep it for half of that. */
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

const open = async (store: BlobStore, blob: string | Buffer, range: ByteRange) => {
  if (typeof blob !== 'string') return Readable.from([blob.subarray(range.start, range.end + 1)]);
  return store.open(blob, range).catch((error: unknown) => {
    // It has just been deleted.
    throw error instanceof BlobNotFound ? fileNotFound() : error;
  });
};

type Sending = Pick<Features, 'store' | 'config' | 'downloadPlaces'> & { requester: Requester };

const send = async (
  req: RouteRequest,
  res: ServerResponse,
  { store, config, downloadPlaces, requester }: Sending,
  blob: string | Buffer,
  content: Content,
) => {
  const response = prepareResponse(content, req.method, req.headers);
  if (response.status === 304 || req.method === 'HEAD' || content.sizeBytes === 0) {
    res.writeHead(response.status, response.headers).end();
    return;
  }
  const mayRedirect = config.redirects && !needsPolicy(content.mediaType);
  if (mayRedirect && store.direct && typeof blob === 'string') {
    res.writeHead(302, await redirectTo(store.direct, blob, response.headers)).end();
    return;
  }
  // With an end, S3 is asked for no more than there is.
  const range = response.range ?? { start: 0, end: content.sizeBytes - 1 };
  await downloadPlaces.run(
    requester,
    (place) => sendBody(res, place, response, () => open(store, blob, range)),
    callerSignal(res),
  );
};

export const getFile = (features: Features): MountedRoute => ({
  definition,
  middleware: (context) => async (req, res) => {
    const { files, images, links, signers, recordFiles, findAppOrigins } = features;
    const identity = identify(req, definition, context);
    const { id } = definition.params.parse(req.params);
    const query = definition.query.parse(validate(definition.query, req.query, 'invalid_query'));
    const projectNumber = identity.project.number;
    const requester = toRequester(identity);
    const sending = { ...features, requester };
    const found = await files.find(projectNumber, id);
    const file = await requireReadable(
      identity,
      found,
      query,
      async () =>
        links.isValid({ projectNumber, fileId: id }, query) &&
        (found === null || (await signers.mayStillSign(identity, found, query.signer))),
      (wanted) => recordFiles.mayRead(identity, wanted),
    );
    if (isAnswerItself(file, query)) {
      const framedBy = file.mediaType === pdf ? await findAppOrigins(identity.project) : undefined;
      return send(req, res, sending, file.blobKey, { ...fileContent(file), framedBy });
    }
    const image = await images.get(projectNumber, file, query, {
      requester,
      signal: callerSignal(res),
    });
    return send(req, res, sending, image.blob, imageContent(file, image));
  },
});
