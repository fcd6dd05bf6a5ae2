import { storageRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Nouns } from '../nouns.ts';
import { checkVersion } from '../resumable/tus-headers.ts';
import { tusRoute } from './tus-route.ts';

export const deleteResumable = ({ resumableUploads }: Nouns) =>
  tusRoute(
    route(storageRoutes.deleteResumable, async ({ params, header, identity }) => {
      checkVersion(header('tus-resumable'));
      await resumableUploads.end(identity, params.id);
      return { body: undefined };
    }),
  );
