import { storageRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import { TUS_RESUMABLE } from '@tus/server';
import type { Nouns } from '../nouns.ts';
import { checkVersion } from '../resumable/tus-headers.ts';
import { fileOf, progressHeaders, tusRoute } from './tus-route.ts';

export const getResumable = ({ resumableUploads, links }: Nouns) =>
  tusRoute(
    route(storageRoutes.getResumable, async ({ params, header, identity }) => {
      // A plain GET is no matter of the protocol.
      checkVersion(header('tus-resumable') ?? TUS_RESUMABLE);
      const upload = await resumableUploads.look(identity, params.id);
      const { id, offset, sizeBytes: length, expiresAt, metadata } = upload;
      const file = fileOf(links, identity, upload);
      return {
        body: { id, offset, length, expiresAt: expiresAt.toISOString(), file },
        headers: {
          ...progressHeaders(links, identity, upload),
          'Upload-Length': String(length),
          ...(metadata !== '' && { 'Upload-Metadata': metadata }),
          'Cache-Control': 'no-store',
        },
      };
    }),
  );
