import { recordRoutes } from '@backlot/contract';
import type { FairShares } from '@backlot/fair-shares';
import { route } from '@backlot/http';
import type { Collections } from '../collections/collections.ts';
import type { Quota } from '../record/quota/quota.ts';
import { inTurn } from './turns.ts';

/** A project has at most 100 of them, so that they are one page. */
export const listCollections = (collections: Collections, quota: Quota, reads: FairShares) =>
  route(
    recordRoutes.listCollections,
    async ({ identity }) => {
      const items = await collections.list(identity.project.number);
      const { project } = await quota.totals(identity.project);
      return {
        body: {
          items,
          hasMore: false,
          nextCursor: null,
          totalRecords: project.records,
          totalBytes: project.bytes,
          quotaRecords: quota.limits.project.records,
          quotaBytes: quota.limits.project.bytes,
        },
      };
    },
    inTurn(reads),
  );

export const setCollectionAccess = (collections: Collections, writes: FairShares) =>
  route(
    recordRoutes.setCollectionAccess,
    async ({ params, body, identity }) => ({
      body: await collections.set(identity.project, params.collection, body),
    }),
    inTurn(writes),
  );
