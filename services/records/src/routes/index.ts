import type { KeyObject } from 'node:crypto';
import type { UserDirectory } from '@backlot/contract';
import type { FairShares } from '@backlot/fair-shares';
import type { MountedRoute, RouteOptions } from '@backlot/http';
import type { AccessChecks } from '../collections/access-check.ts';
import type { Collections } from '../collections/collections.ts';
import type { PersonalFields } from '../collections/personal-fields.ts';
import type { Aggregates } from '../list/aggregates.ts';
import type { Counts } from '../list/counts.ts';
import type { Deletions } from '../list/deletions.ts';
import type { EmptyHints } from '../list/empty/empty-hints.ts';
import type { Lists } from '../list/lists.ts';
import type { ShownRecords } from '../list/shown/shown-records.ts';
import type { SearchWords } from '../query/search-query.ts';
import type { Batches } from '../record/batch/batch.ts';
import type { NewIds } from '../record/new-ids.ts';
import type { Quota } from '../record/quota/quota.ts';
import type { Records } from '../record/records.ts';
import type { Shares } from '../record/shares/shares.ts';
import type { Shapes } from '../shape/shapes.ts';
import { checkAccess } from './access-check.ts';
import { aggregateRecords } from './aggregate.ts';
import { writeBatch } from './batch.ts';
import {
  deleteCollection,
  listCollections,
  renameCollection,
  setCollectionAccess,
} from './collections.ts';
import { deleteRecords } from './delete-matching.ts';
import { countRecords, listRecords } from './lists.ts';
import { createRecord, deleteRecord, getRecord, replaceRecord, updateRecord } from './records.ts';
import { getCollectionShape, getProjectShape } from './shape.ts';
import { listShares, shareRecord, unshareRecord } from './shares.ts';

export interface RoutesDeps {
  accessChecks: AccessChecks;
  collections: Collections;
  records: Records;
  shares: Shares;
  batches: Batches;
  batchTurns: RouteOptions;
  writeTurns: RouteOptions;
  smallReads: FairShares;
  quota: Quota;
  shapes: Shapes;
  lists: Lists;
  counts: Counts;
  emptyHints: EmptyHints;
  parseSearch: (text: string) => Promise<SearchWords>;
  shownRecords: ShownRecords;
  aggregates: Aggregates;
  deletions: Deletions;
  users: UserDirectory;
  newIds: NewIds;
  personalFields: PersonalFields;
  cursorKeys: readonly KeyObject[];
}

/** `_count` and `_aggregate` stand before the id that they could be taken for. */
export const createRoutes = ({
  accessChecks,
  collections,
  records,
  shares,
  batches,
  batchTurns,
  writeTurns,
  smallReads,
  quota,
  shapes,
  lists,
  counts,
  emptyHints,
  parseSearch,
  shownRecords,
  aggregates,
  deletions,
  users,
  newIds,
  personalFields,
  cursorKeys,
}: RoutesDeps): MountedRoute[] => [
  countRecords({ collections, counts, emptyHints, parseSearch }),
  aggregateRecords(collections, aggregates, emptyHints),
  listRecords({ collections, lists, counts, emptyHints, parseSearch, shownRecords }, cursorKeys),
  getRecord(collections, records, shownRecords),
  createRecord(collections, records, personalFields, writeTurns),
  writeBatch(collections, batches, personalFields, batchTurns),
  updateRecord(collections, records, personalFields, writeTurns),
  replaceRecord(collections, records, newIds, personalFields, writeTurns),
  deleteRecord(collections, records, writeTurns),
  deleteRecords({ collections, counts, deletions }, cursorKeys),
  shareRecord(collections, shares, writeTurns),
  listShares(collections, shares, smallReads),
  unshareRecord(collections, shares, writeTurns),
  listCollections(collections, quota, smallReads),
  setCollectionAccess(collections, writeTurns),
  renameCollection(collections, writeTurns),
  deleteCollection(collections, writeTurns),
  checkAccess({ collections, checks: accessChecks, users, reads: smallReads }),
  getProjectShape(shapes),
  getCollectionShape(shapes),
];
