import { shareRoutes } from '@backlot/contract';
import type { FairShares } from '@backlot/fair-shares';
import { type RouteOptions, route } from '@backlot/http';
import type { Collections } from '../collections/collections.ts';
import type { Shares } from '../record/shares/shares.ts';
import { findTarget } from './records.ts';
import { inTurn } from './turns.ts';

export const shareRecord = (collections: Collections, shares: Shares, turns: RouteOptions) =>
  route(
    shareRoutes.shareRecord,
    async ({ params, body, identity }) => ({
      body: await shares.put(await findTarget(collections, identity, params), body),
    }),
    turns,
  );

export const listShares = (collections: Collections, shares: Shares, reads: FairShares) =>
  route(
    shareRoutes.listShares,
    async ({ params, identity }) => {
      const items = await shares.list(await findTarget(collections, identity, params));
      return { body: { items, hasMore: false, nextCursor: null } };
    },
    inTurn(reads),
  );

export const unshareRecord = (collections: Collections, shares: Shares, turns: RouteOptions) =>
  route(
    shareRoutes.unshareRecord,
    async ({ params, identity }) => {
      await shares.remove(await findTarget(collections, identity, params), params.userId);
      return { body: { ok: true as const } };
    },
    turns,
  );
