import { isUuid, recordRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { OwnedRecords } from '../list/owned-records.ts';
import { CallReader } from '../reader.ts';

export const listOwnedRecords = (owned: OwnedRecords) =>
  route(recordRoutes.listOwnedRecords, async (call) => {
    const { params, query, identity } = call;
    const nothing = { items: [], hasMore: false, nextCursor: null };
    if (!isUuid(params.userId) || query.limit === 0) return { body: nothing };
    const { number } = identity.project;
    return { body: await owned.list(number, params.userId, query, new CallReader(call)) };
  });
