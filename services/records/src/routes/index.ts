import type { KeyObject } from 'node:crypto';
import type { UserDirectory } from '@backlot/contract';
import type { FairShares } from '@backlot/fair-shares';
import type { MountedRoute, RouteOptions } from '@backlot/http';
import type { Feed } from '../change-log/feed.ts';
import type { Channels } from '../channels/channels.ts';
import type { AccessChecks } from '../collections/access-check.ts';
import type { Collections } from '../collections/collections.ts';
import type { PersonalFields } from '../collections/personal-fields.ts';
import type { Exposures } from '../exposure/exposure.ts';
import type { TrafficReports } from '../exposure/traffic-reports.ts';
import type { AccessTrials } from '../exposure/try-access.ts';
import type { RecordHistory } from '../history/record-history.ts';
import type { Trash } from '../history/trash.ts';
import type { Aggregates } from '../list/aggregates.ts';
import type { Counts } from '../list/counts.ts';
import type { Deletions } from '../list/deletions.ts';
import type { EmptyHints } from '../list/empty/empty-hints.ts';
import type { Lists } from '../list/lists.ts';
import type { OwnedRecords } from '../list/owned-records.ts';
import type { ShownRecords } from '../list/shown/shown-records.ts';
import type { LiveStreams } from '../live/live-streams.ts';
import type { Reports } from '../moderation/reports.ts';
import type { SearchWords } from '../query/search-query.ts';
import type { Batches } from '../record/batch/batch.ts';
import type { NewIds } from '../record/new-ids.ts';
import type { Quota } from '../record/quota/quota.ts';
import type { Records } from '../record/records.ts';
import type { RecordTarget } from '../record/refusals.ts';
import type { Shares } from '../record/shares/shares.ts';
import type { SchemaReports } from '../reports/schema-reports.ts';
import type { Shapes } from '../shape/shapes.ts';
import type { Exports } from '../transfer/export/exports.ts';
import type { Imports } from '../transfer/import/imports.ts';
import type { RestorePoints } from '../undo/restore-points.ts';
import type { UndoJobs } from '../undo/undo-jobs.ts';
import { checkAccess } from './access-check.ts';
import { aggregateRecords } from './aggregate.ts';
import { writeBatch } from './batch.ts';
import { listChanges } from './changes.ts';
import { broadcastMessage, listPresence, setPresence } from './channels.ts';
import {
  deleteCollection,
  listCollections,
  renameCollection,
  setCollectionAccess,
} from './collections.ts';
import { deleteRecords } from './delete-matching.ts';
import { openEvents } from './events.ts';
import { getExposure, listRefusals, listVisits } from './exposure.ts';
import { getHistory, restoreRecord } from './history.ts';
import { countRecords, listRecords } from './lists.ts';
import { listOwnedRecords } from './owned-records.ts';
import { createRecord, deleteRecord, getRecord, replaceRecord, updateRecord } from './records.ts';
import { dismissReports, listReports, reportRecord } from './reports.ts';
import { getSchemaReport, proposeSchema } from './schemas.ts';
import { getCollectionShape, getProjectShape } from './shape.ts';
import { listShares, shareRecord, unshareRecord } from './shares.ts';
import { exportRecords, type ImportNames, importRecords } from './transfers.ts';
import { tryAccess } from './try-access.ts';
import {
  createRestorePoint,
  deleteRestorePoint,
  getUndo,
  listRestorePoints,
  listTrash,
  undoChanges,
} from './undo.ts';

export interface RoutesDeps {
  accessChecks: AccessChecks;
  accessTrials: AccessTrials;
  exposures: Exposures;
  trafficReports: TrafficReports;
  scans: FairShares;
  collections: Collections;
  owned: OwnedRecords;
  records: Records;
  reports: Reports;
  shares: Shares;
  batches: Batches;
  batchTurns: RouteOptions;
  writeTurns: RouteOptions;
  smallReads: FairShares;
  answers: FairShares;
  quota: Quota;
  shapes: Shapes;
  schemaReports: SchemaReports;
  lists: Lists;
  counts: Counts;
  emptyHints: EmptyHints;
  parseSearch: (text: string) => Promise<SearchWords>;
  shownRecords: ShownRecords;
  aggregates: Aggregates;
  deletions: Deletions;
  exports: Exports;
  imports: Imports;
  importNames: ImportNames;
  importTurns: RouteOptions;
  history: RecordHistory;
  restore: (target: RecordTarget, seq: number) => Promise<void>;
  trash: Trash;
  restorePoints: RestorePoints;
  undos: UndoJobs;
  users: UserDirectory;
  newIds: NewIds;
  personalFields: PersonalFields;
  cursorKeys: readonly KeyObject[];
  feed: Feed;
  streams: LiveStreams;
  channels: Channels;
  now: () => number;
}

/** `_count` and its like stand before the id that they could be taken for. */
export const createRoutes = ({
  accessChecks,
  accessTrials,
  exposures,
  trafficReports,
  collections,
  owned,
  records,
  reports,
  shares,
  batches,
  batchTurns,
  writeTurns,
  smallReads,
  scans,
  answers,
  quota,
  shapes,
  schemaReports,
  lists,
  counts,
  emptyHints,
  parseSearch,
  shownRecords,
  aggregates,
  deletions,
  exports,
  imports,
  importNames,
  importTurns,
  history,
  restore,
  trash,
  restorePoints,
  undos,
  users,
  newIds,
  personalFields,
  cursorKeys,
  feed,
  streams,
  channels,
  now,
}: RoutesDeps): MountedRoute[] => [
  countRecords({ collections, counts, emptyHints, parseSearch }),
  aggregateRecords(collections, aggregates, emptyHints),
  openEvents(streams),
  broadcastMessage(channels),
  setPresence(channels),
  listPresence(channels),
  listChanges({ feed, collections, smallReads, answers, now }, cursorKeys),
  exportRecords({ collections, exports, users, now: importNames.now }),
  listReports(collections, reports, smallReads),
  reportRecord(collections, reports, writeTurns),
  dismissReports(collections, reports, writeTurns),
  listRecords({ collections, lists, counts, emptyHints, parseSearch, shownRecords }, cursorKeys),
  getRecord(collections, records, shownRecords),
  createRecord(collections, records, personalFields, writeTurns),
  writeBatch(collections, batches, personalFields, batchTurns),
  importRecords(imports, importNames, importTurns),
  updateRecord(collections, records, personalFields, writeTurns),
  replaceRecord(collections, records, newIds, personalFields, writeTurns),
  deleteRecord(collections, records, writeTurns),
  deleteRecords({ collections, counts, deletions }, cursorKeys),
  getHistory(collections, history, answers),
  restoreRecord(collections, records, restore, writeTurns),
  shareRecord(collections, shares, writeTurns),
  listShares(collections, shares, smallReads),
  unshareRecord(collections, shares, writeTurns),
  listCollections(collections, quota, smallReads),
  setCollectionAccess(collections, writeTurns),
  renameCollection(collections, writeTurns),
  deleteCollection(collections, writeTurns),
  listTrash(trash, answers),
  createRestorePoint(restorePoints, writeTurns),
  listRestorePoints(restorePoints, smallReads),
  deleteRestorePoint(restorePoints, writeTurns),
  undoChanges(undos, smallReads),
  getUndo(undos, smallReads),
  checkAccess({ collections, checks: accessChecks, users, reads: smallReads }),
  tryAccess({ collections, trials: accessTrials, users, scans }),
  getExposure(exposures),
  listRefusals(trafficReports, smallReads),
  listVisits(trafficReports, smallReads),
  listOwnedRecords(owned),
  getProjectShape(shapes),
  getCollectionShape(shapes),
  getSchemaReport(schemaReports, smallReads),
  proposeSchema(shapes),
];
