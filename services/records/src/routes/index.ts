import type { KeyObject } from 'node:crypto';
import type { UserDirectory } from '@backlot/contract';
import type { FairShares } from '@backlot/fair-shares';
import type { MountedRoute } from '@backlot/http';
import type { AccessChecks } from '../collections/access-check.ts';
import type { Collections } from '../collections/collections.ts';
import type { Aggregates } from '../list/aggregates.ts';
import type { Counts } from '../list/counts.ts';
import type { EmptyHints } from '../list/empty/empty-hints.ts';
import type { Lists } from '../list/lists.ts';
import type { ShownRecords } from '../list/shown/shown-records.ts';
import type { Batches } from '../record/batch.ts';
import type { Quota } from '../record/quota/quota.ts';
import type { Records } from '../record/records.ts';
import type { Shares } from '../record/shares.ts';
import type { SearchWords } from '../search/search-query.ts';
import type { Shapes } from '../shape/shapes.ts';
import { checkAccess } from './access-check.ts';
import { aggregateRecords } from './aggregate.ts';
import { writeBatch } from './batch.ts';
import { listCollections, setCollectionAccess } from './collections.ts';
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
  batchShares: FairShares;
  writeShares: FairShares;
  smallReads: FairShares;
  quota: Quota;
  shapes: Shapes;
  lists: Lists;
  counts: Counts;
  emptyHints: EmptyHints;
  parseSearch: (text: string) => Promise<SearchWords>;
  shownRecords: ShownRecords;
  aggregates: Aggregates;
  users: UserDirectory;
  cursorKeys: readonly KeyObject[];
}

/** `_count` and `_aggregate` stand before the id that they could be taken for. */
export const createRoutes = ({
  accessChecks,
  collections,
  records,
  shares,
  batches,
  batchShares,
  writeShares,
  smallReads,
  quota,
  shapes,
  lists,
  counts,
  emptyHints,
  parseSearch,
  shownRecords,
  aggregates,
  users,
  cursorKeys,
}: RoutesDeps): MountedRoute[] => [
  countRecords({ collections, counts, emptyHints, parseSearch }),
  aggregateRecords(collections, aggregates),
  listRecords({ collections, lists, counts, emptyHints, parseSearch, shownRecords }, cursorKeys),
  getRecord(collections, records, shownRecords),
  createRecord(collections, records, writeShares),
  writeBatch(collections, batches, batchShares),
  updateRecord(collections, records, writeShares),
  replaceRecord(collections, records, writeShares),
  deleteRecord(collections, records, writeShares),
  shareRecord(collections, shares, writeShares),
  listShares(collections, shares, smallReads),
  unshareRecord(collections, shares, writeShares),
  listCollections(collections, quota, smallReads),
  setCollectionAccess(collections, writeShares),
  checkAccess({ collections, checks: accessChecks, users, reads: smallReads }),
  getProjectShape(shapes),
  getCollectionShape(shapes),
];
