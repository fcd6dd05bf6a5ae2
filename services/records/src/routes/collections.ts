import { recordRoutes } from '@backlot/contract';
import type { FairShares } from '@backlot/fair-shares';
import { hintHeader, type RouteOptions, route } from '@backlot/http';
import type { Collections } from '../collections/collections.ts';
import type { Quota } from '../record/quota/quota.ts';
import type { Totals } from '../record/quota/totals.ts';
import { toSource } from '../source.ts';
import { inTurn } from './turns.ts';

const presentUse = (totals: Totals, limits: Totals) => ({
  totalRecords: totals.records,
  totalBytes: totals.bytes,
  quotaRecords: limits.records,
  quotaBytes: limits.bytes,
});

/** A project has at most 100 of them, so that they are one page. */
export const listCollections = (collections: Collections, quota: Quota, reads: FairShares) =>
  route(
    recordRoutes.listCollections,
    async ({ identity }) => {
      const items = await collections.list(identity.project.number);
      const { project, owner } = await quota.totals(identity.project);
      const page = { items, hasMore: false, nextCursor: null };
      return {
        body: {
          ...page,
          ...presentUse(project, quota.limits.project),
          owner: owner && presentUse(owner, quota.limits.owner),
        },
      };
    },
    inTurn(reads),
  );

export const renameCollection = (collections: Collections, turns: RouteOptions) =>
  route(
    recordRoutes.renameCollection,
    async ({ params, body, identity }) => ({
      body: await collections.rename(identity.project, params.collection, body.name),
    }),
    turns,
  );

const noUndo =
  'No changes are kept of this collection: nothing brings these records back. Export them first (GET /db/<collection>/_export).';

const comesBack = (projectId: string, name: string, keptUntil: string) =>
  `Until ${keptUntil} POST /api/platform/projects/${projectId}/collections/${name}/restore brings it back, or an undo.`;

export const deleteCollection = (collections: Collections, turns: RouteOptions) =>
  route(
    recordRoutes.deleteCollection,
    async ({ params, query, identity, header }) => {
      const isOn = (value: string | undefined) => value === '1' || value === 'true';
      const keepsCollection = isOn(query.empty);
      const isTried = isOn(query.dryRun);
      const { project } = identity;
      const source = toSource(identity, header('x-request-id'));
      const options = { keepsCollection, source, isTried };
      const { count, keptUntil } = await collections.remove(project, params.collection, options);
      const hint = keptUntil ? comesBack(project.id, params.collection, keptUntil) : noUndo;
      return {
        body: { ok: true as const, count, keptUntil, ...(isTried && { dryRun: true as const }) },
        headers: { [hintHeader]: hint },
      };
    },
    turns,
  );

export const setCollectionAccess = (collections: Collections, turns: RouteOptions) =>
  route(
    recordRoutes.setCollectionAccess,
    async ({ params, body, identity }) => ({
      body: await collections.set(identity.project, params.collection, body),
    }),
    turns,
  );
