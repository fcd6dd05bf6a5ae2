import type { MountedRoute, RouteOptions } from '@backlot/http';
import type { Features } from '../features.ts';
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
import { exportRecords, importRecords } from './transfers.ts';
import { tryAccess } from './try-access.ts';
import {
  createRestorePoint,
  deleteRestorePoint,
  eraseTrashedCollection,
  getUndo,
  listRestorePoints,
  listTrash,
  listTrashedCollections,
  restoreCollection,
  undoChanges,
} from './undo.ts';

interface Turns {
  writeTurns: RouteOptions;
  batchTurns: RouteOptions;
  importTurns: RouteOptions;
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
}: Features & Turns): MountedRoute[] => [
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
  listTrashedCollections(collections, smallReads),
  restoreCollection(collections, writeTurns),
  eraseTrashedCollection(collections, writeTurns),
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
