import type { KeyObject } from 'node:crypto';
import { ApiError, recordRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Collections } from '../collections/collections.ts';
import type { Counts } from '../list/counts.ts';
import { type Deletions, oldestFirst } from '../list/deletions.ts';
import { decodePosition, encodePosition } from '../query/cursor.ts';
import { listHints } from '../query/hints.ts';
import { selectRecords } from '../query/selection.ts';
import { CallReader } from '../reader.ts';
import { toSource } from '../source.ts';
import { fieldsIn } from '../where/filter.ts';
import { parseWhere } from '../where/parse.ts';

const isSet = (flag: string | undefined) => flag === '1' || flag === 'true';

const allRecords = (projectId: string, name: string) =>
  new ApiError('invalid_query', '"where": names no condition, and so would delete all records.', {
    hint: `To delete all: DELETE /api/platform/projects/${projectId}/collections/${name}?empty=1, and without "empty" the collection too. A filter is JSON: ?where={"done":true}; with &dryRun=1 it only counts.`,
  });

interface DeleteMatchingDeps {
  collections: Collections;
  counts: Counts;
  deletions: Deletions;
}

/** Deletes what fits a filter; a long deletion says so, and the next call goes on where it ended. */
export const deleteRecords = (
  { collections, counts, deletions }: DeleteMatchingDeps,
  cursorKeys: readonly KeyObject[],
) =>
  route(recordRoutes.deleteRecords, async (call) => {
    const { params, query, identity } = call;
    const { project } = identity;
    const where = parseWhere(query.where);
    if (fieldsIn(where).length === 0) throw allRecords(project.id, params.collection);
    const scope = {
      projectNumber: project.number,
      collection: params.collection,
      filter: where,
      sort: oldestFirst,
      ownerId: undefined,
    };
    const { cursor } = query;
    const from = cursor === undefined ? undefined : decodePosition(cursor, scope, cursorKeys).id;
    const collection = await collections.find(project.number, params.collection);
    const end = { hasMore: false, nextCursor: null };
    const dryRun = isSet(query.dryRun) && { dryRun: true as const };
    if (!collection) return { body: { count: 0, ...end, ...dryRun } };
    const source = toSource(identity, call.header('x-request-id'));
    const { selection } = selectRecords(collection, identity, { where, source });
    const reader = new CallReader(call);
    const headers = listHints(where);
    if (dryRun)
      return { body: { ...(await counts.count(selection, reader)), ...end, ...dryRun }, headers };
    const { count, next } = await deletions.run(selection, from, reader);
    if (next === null) return { body: { count, ...end }, headers };
    const nextCursor = encodePosition({ keys: [], id: next }, scope, cursorKeys);
    return { body: { count, hasMore: true, nextCursor }, headers };
  });
