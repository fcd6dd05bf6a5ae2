import { authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Nouns } from '../nouns.ts';

export const getJwks = ({ keys }: Nouns) =>
  route(authRoutes.getJwks, async () => ({
    body: await keys.jwks(),
    headers: { 'Cache-Control': 'public, max-age=300' },
  }));
