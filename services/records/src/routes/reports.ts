import { reportRoutes } from '@backlot/contract';
import type { FairShares } from '@backlot/fair-shares';
import { type RouteOptions, requirePower, route } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import type { Collections } from '../collections/collections.ts';
import { recordNotFound } from '../collections/forbidden.ts';
import type { Reports } from '../moderation/reports.ts';
import { CallReader } from '../reader.ts';
import { findTarget } from './records.ts';
import { inTurn } from './turns.ts';

const requireModerator = (identity: Identity) =>
  requirePower(identity, 'block-users', 'see what users report');

export const reportRecord = (collections: Collections, reports: Reports, turns: RouteOptions) =>
  route(
    reportRoutes.reportRecord,
    async (call) => {
      const { params, body, identity } = call;
      const target = await findTarget(collections, identity, params);
      const { userId } = identity;
      if (userId === null) throw recordNotFound();
      await reports.put(target, { userId, reason: body.reason }, new CallReader(call));
      return { body: { ok: true as const } };
    },
    turns,
  );

export const listReports = (collections: Collections, reports: Reports, reads: FairShares) =>
  route(
    reportRoutes.listReports,
    async ({ params, query, identity }) => {
      requireModerator(identity);
      const collection = await collections.find(identity.project.number, params.collection);
      const nothing = { items: [], hasMore: false, nextCursor: null };
      return { body: collection ? await reports.list(collection, query) : nothing };
    },
    inTurn(reads),
  );

export const dismissReports = (collections: Collections, reports: Reports, turns: RouteOptions) =>
  route(
    reportRoutes.dismissReports,
    async ({ params, identity }) => {
      requireModerator(identity);
      const { collection, id } = await findTarget(collections, identity, params);
      await reports.dismiss(collection, id);
      return { body: { ok: true as const } };
    },
    turns,
  );
