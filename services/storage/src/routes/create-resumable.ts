import { storageRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Nouns } from '../nouns.ts';
import { announcedIn } from '../resumable/tus-headers.ts';
import { expiryOf, tusRoute } from './tus-route.ts';

export const createResumable = ({ resumableUploads }: Nouns) =>
  tusRoute(
    route(
      storageRoutes.createResumable,
      async ({ header, identity }) => {
        const upload = await resumableUploads.open(identity, announcedIn(header));
        const { id, expiresAt } = upload;
        return {
          body: { id, expiresAt: expiresAt.toISOString() },
          // Relative: whoever stands in front of us knows the address.
          headers: { Location: `tus/${id}`, ...expiryOf(upload) },
        };
      },
      {
        isSlow: true,
        // What there is of a body is in headers.
        receive: async ({ headers }) => ({
          value: undefined,
          text: JSON.stringify([headers['upload-length'], headers['upload-metadata']]),
        }),
      },
    ),
  );
