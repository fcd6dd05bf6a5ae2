import { storageRoutes } from '@backlot/contract';
import { type Receive, route } from '@backlot/http';
import type { Nouns } from '../nouns.ts';
import type { Upload } from '../upload/uploads.ts';
import { priceOf } from '../usage.ts';

/** The body as the route's handler gets it. */
const receiveWith =
  ({ uploads }: Nouns): Receive =>
  async (req, identity) => {
    const upload = await uploads.receive(req, identity);
    const { sha256, name, visibility } = upload;
    return {
      value: upload,
      text: JSON.stringify([sha256?.toString('hex'), name, visibility]),
      release: () => uploads.release(identity, upload),
    };
  };

export const uploadFile = (nouns: Nouns) =>
  route(
    storageRoutes.uploadFile,
    async ({ sent, identity }) => {
      const upload = sent.value as Upload;
      const { id, name, sizeBytes, blobKey } = upload;
      const { id: projectId, number: projectNumber } = identity.project;
      const url = nouns.links.to({ projectId, projectNumber, fileId: id, name });
      const usedMillicredits = priceOf(identity, sizeBytes);
      return {
        body: { id, url, name, size: sizeBytes },
        ...(usedMillicredits === undefined ? {} : { usedMillicredits }),
        commit: () => nouns.files.create(identity, id, blobKey, upload),
      };
    },
    { receive: receiveWith(nouns) },
  );
