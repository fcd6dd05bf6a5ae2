import { storageRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Nouns } from '../nouns.ts';
import { priceOf } from '../usage.ts';

export const completeUpload = ({ directUploads, files, links }: Nouns) =>
  route(
    storageRoutes.completeUpload,
    async ({ params, identity }) => {
      const upload = await directUploads.take(identity, params.id);
      const { id, name, sizeBytes, blobKey } = upload;
      const { id: projectId, number: projectNumber } = identity.project;
      const url = links.to({ projectId, projectNumber, fileId: id, name });
      const usedMillicredits = priceOf(identity, sizeBytes);
      return {
        body: { id, url, name, size: sizeBytes },
        ...(usedMillicredits === undefined ? {} : { usedMillicredits }),
        commit: () =>
          directUploads.close(identity, id, () => files.create(identity, id, blobKey, upload)),
      };
    },
    { isSlow: true },
  );
