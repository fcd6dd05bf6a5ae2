import { storageRoutes } from '@backlot/contract';
import { toRequester } from '@backlot/fair-shares';
import { type Call, type Receive, route } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import { chargeFor } from '@backlot/service';
import { toAudience } from '../files/audience.ts';
import { uploaderId } from '../files/file.ts';
import type { NewFile } from '../files/files.ts';
import type { Links } from '../files/links.ts';
import type { Upload } from '../upload/uploads.ts';
import type { Features } from './features.ts';

export const describeFile = (
  links: Links,
  { id: projectId, number: projectNumber }: Identity['project'],
  { id, name, sizeBytes }: { id: string; name: string; sizeBytes: number },
) => ({ id, url: links.to({ projectId, projectNumber, fileId: id, name }), name, size: sizeBytes });

const replyWithFile = (links: Links, identity: Identity, upload: Upload) => {
  const usedMillicredits = chargeFor(identity, storageRoutes.uploadPrice, upload.sizeBytes);
  return {
    body: { ...describeFile(links, identity.project, upload), type: upload.mediaType },
    ...(usedMillicredits === undefined ? {} : { usedMillicredits }),
  };
};

const toNewFile = (identity: Identity, upload: Upload): NewFile => ({
  identity,
  ownerId: uploaderId(identity),
  id: upload.id,
  blobKey: upload.blobKey,
  received: upload,
  maxKeptBytes: upload.maxKeptBytes,
});

/** Its answer is stored in the transaction that makes the file, which is no other's then. */
const isKeyed = (header: Call<typeof storageRoutes.uploadFile>['header']) =>
  header('idempotency-key') !== undefined;

/** Where an Idempotency-Key comes twice, the digests of the files are compared. */
const receiveUpload =
  ({ uploads }: Features): Receive =>
  async (req, identity) => {
    const upload = await uploads.receive(req, identity);
    const { digest, name, visibility, groupId, record } = upload;
    return {
      value: upload,
      fields: upload.fields,
      text: JSON.stringify([digest, name, visibility, groupId, record?.recordId]),
      release: () => uploads.release(identity, upload),
    };
  };

export const uploadFile = (features: Features) =>
  route(
    storageRoutes.uploadFile,
    async ({ rawBody, identity, header, signal }) => {
      const upload = rawBody.value as Upload;
      const file = toNewFile(identity, upload);
      return {
        ...replyWithFile(features.links, identity, upload),
        commit: () =>
          isKeyed(header)
            ? features.files.create(identity.project, [file])
            : features.newFiles.create(file, signal),
      };
    },
    {
      receive: receiveUpload(features),
      inTurn: ({ identity, signal, header }, work) =>
        isKeyed(header)
          ? features.newFiles.inTurn(toRequester(identity), work, { signal })
          : work(),
    },
  );

export const openUpload = ({ directUploads }: Features) =>
  route(storageRoutes.openUpload, async ({ body, identity }) => {
    const { expiresAt, ...form } = await directUploads.open(identity, {
      ...body,
      ...toAudience(body),
    });
    return { body: { ...form, expiresAt: expiresAt.toISOString() } };
  });

export const completeUpload = ({ directUploads, files, links }: Features) =>
  route(
    storageRoutes.completeUpload,
    async ({ params, identity, signal }) => {
      const upload = await directUploads.copyToFile(identity, params.id, signal);
      const { id } = upload;
      return {
        ...replyWithFile(links, identity, upload),
        commit: () =>
          directUploads.complete(identity, id, () =>
            files.create(identity.project, [toNewFile(identity, upload)]),
          ),
      };
    },
    { isSlow: true },
  );
