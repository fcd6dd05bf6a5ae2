import { storageRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Nouns } from '../nouns.ts';

export const openUpload = ({ directUploads }: Nouns) =>
  route(storageRoutes.openUpload, async ({ body, identity }) => {
    const { expiresAt, ...slip } = await directUploads.open(identity, body);
    return { body: { ...slip, expiresAt: expiresAt.toISOString() } };
  });
