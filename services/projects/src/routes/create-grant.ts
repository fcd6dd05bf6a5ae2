import { creditRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Ledger } from '../ledger/ledger.ts';

export const createGrant = (ledger: Ledger) =>
  route(creditRoutes.createGrant, async ({ body }) => ({ body: await ledger.grant(body) }));
