import type { AccountDirectory, PeopleDirectory, UserDirectory } from '@backlot/contract';
import { deriveOwnKeys } from '@backlot/identity';
import {
  createArchivePart,
  createConfigPart,
  createNoteFindings,
  type ServiceContext,
} from '@backlot/service';
import { uuidv7 } from 'uuidv7';
import { createCollectionsArchive } from './archive/collections-archive.ts';
import { createRecordsArchive } from './archive/records-archive.ts';
import { createSharesArchive } from './archive/shares-archive.ts';
import { createFeed } from './change-log/feed.ts';
import { createAccessChecks } from './collections/access-check.ts';
import { createCollections } from './collections/collections.ts';
import { createCollectionsConfig } from './collections/config-store.ts';
import { createPersonalFields } from './collections/personal-fields.ts';
import type { RecordsConfig } from './config.ts';
import { createUserEraser } from './erasure/erase-user.ts';
import { createExposures } from './exposure/exposure.ts';
import { createNoteOpenReads } from './exposure/open-reads.ts';
import { createTraffic } from './exposure/traffic.ts';
import { createTrafficReports } from './exposure/traffic-reports.ts';
import { createAccessTrials } from './exposure/try-access.ts';
import { createRecordHistory } from './history/record-history.ts';
import { createRestore } from './history/restore.ts';
import { createTrash } from './history/trash.ts';
import { createSlotAssignment } from './indexes/assign.ts';
import { createObservations } from './indexes/observations.ts';
import { createAggregates } from './list/aggregates.ts';
import { createCounts } from './list/counts.ts';
import { createDeletions } from './list/deletions.ts';
import { createEmptyHints } from './list/empty/empty-hints.ts';
import { createLists } from './list/lists.ts';
import { createOwnedRecords } from './list/owned-records.ts';
import { createParseSearch } from './list/parse-search.ts';
import { createIncludes } from './list/shown/include.ts';
import { createPeople } from './list/shown/people.ts';
import { createShownRecords } from './list/shown/shown-records.ts';
import { createLive } from './live/live.ts';
import { createReports } from './moderation/reports.ts';
import { createPaidRecords } from './paid/paid-records.ts';
import type { Queues } from './queues.ts';
import { createBatches } from './record/batch/batch.ts';
import { createSendChange } from './record/change/send-change.ts';
import { createClaimTurns } from './record/claims/claim-turns.ts';
import { createNewIds } from './record/new-ids.ts';
import { createQuota } from './record/quota/quota.ts';
import { createRecordDirectory } from './record/record-directory.ts';
import { createRecords } from './record/records.ts';
import { createWriteChecks } from './record/schema/write-checks.ts';
import { createEmailShares } from './record/shares/email-shares.ts';
import { createGivenShares } from './record/shares/given-shares.ts';
import { createShares } from './record/shares/shares.ts';
import { createSchemaReports } from './reports/schema-reports.ts';
import { createShapes } from './shape/shapes.ts';
import { createExports } from './transfer/export/exports.ts';
import { createImports } from './transfer/import/imports.ts';
import { createOwners } from './transfer/import/owners.ts';
import { createWriteLines } from './transfer/import/write-lines.ts';
import { createDeletionNotices } from './undo/deletion-notices.ts';
import { createLogReach } from './undo/log-reach.ts';
import { createRestorePoints } from './undo/restore-points.ts';
import { createUndoJobs } from './undo/undo-jobs.ts';
import { filterDirectory } from './where/filter-directory.ts';

export interface RecordsContext extends ServiceContext<RecordsConfig> {
  /** For what an owner asks about a user, whose an address is, and for new records under ids that a client chose. */
  users: UserDirectory;
  /** For the names of those who write, where a schema asks for them. */
  accounts: AccountDirectory;
  /** For users in place of their ids. */
  people: PeopleDirectory;
}

export type Features = ReturnType<typeof createFeatures>;

/** What records can do: for their routes, for other services, and by themselves. */
export const createFeatures = (context: RecordsContext, queues: Queues) => {
  const { database, outbox, bus, log, now, config, identityKeys, users, accounts, people } =
    context;
  const { limits } = config;
  const { scans, quickScans, largeReads, batches, smallReads, catchUps, answers } = queues;
  const quota = createQuota({ database, limits: config.quota, now });
  const slots = createSlotAssignment(database, outbox);
  const observations = createObservations({ database, slots, now });
  const { places, history } = config;
  const historyDays = history.days;
  const collections = createCollections({ database, outbox, slots, places, historyDays, now });
  const { refresh } = collections;
  const claimTurns = createClaimTurns(database);
  const deletionNotices = createDeletionNotices({ database, outbox, now });
  const cursorKeys = deriveOwnKeys(identityKeys, 'records', 'list cursor');
  const { streams, channels, wakes, ...live } = createLive({
    database,
    bus,
    catchUps,
    find: collections.find,
    forget: collections.invalidate,
    cursorKeys,
    now,
    log,
  });
  const send = createSendChange(database, deletionNotices.note, wakes.written);
  const checks = createWriteChecks({ database, collections, accounts, now });
  const records = createRecords({
    database,
    send,
    quota,
    refresh,
    largeReads,
    answers,
    claimTurns,
    checks,
    now,
  });
  const reports = createReports({ database, records, now });
  const paidRecords = createPaidRecords({ database, outbox, collections, records });
  const lists = createLists({
    database,
    limits,
    refresh,
    scans,
    quickScans,
    largeReads,
    answers,
    observations,
  });
  const emailShares = createEmailShares(database, users);
  const givenShares = createGivenShares({ database, collections, users });
  const recordsConfig = createConfigPart(database, {
    collections: createCollectionsConfig(collections),
  });
  const reach = createLogReach({ database, historyDays, now });
  const recordsArchive = createArchivePart(database, {
    collections: createCollectionsArchive(collections, reach),
    shares: createSharesArchive(database, quota, batches),
    records: createRecordsArchive({ database, collections, send, quota, scans, batches, now }),
  });
  const shapes = createShapes({ database, collections, scans });
  const directories = {
    shapes,
    records: createRecordDirectory({ database, collections, reads: smallReads }),
    filters: filterDirectory,
  };
  const userEraser = createUserEraser({ database, collections, send, users, now });
  const batchWrites = createBatches({
    database,
    send,
    quota,
    refresh,
    claimTurns,
    checks,
    now,
  });
  const lines = createWriteLines({ database, batches: batchWrites, checks, turns: batches });
  const owners = createOwners(users, now);
  const personal = createPersonalFields(database, collections);
  const accessChecks = createAccessChecks(database);
  const findings = createNoteFindings(outbox, now);
  const noteOpenReads = createNoteOpenReads(database, findings);
  const traffic = createTraffic(database, now, noteOpenReads);
  return {
    accessChecks,
    accessTrials: createAccessTrials(database, accessChecks),
    exposures: createExposures({ database, collections, scans, now }),
    trafficReports: createTrafficReports(database, now),
    scans,
    collections,
    owned: createOwnedRecords(database, scans),
    records,
    reports,
    shares: createShares({ database, outbox, quota, now }),
    batches: batchWrites,
    smallReads,
    quota,
    shapes,
    schemaReports: createSchemaReports({ database, collections, now }),
    lists,
    parseSearch: createParseSearch(database),
    shownRecords: createShownRecords(createIncludes(collections, lists, createPeople(people, now))),
    counts: createCounts({ database, limits, refresh, scans, quickScans, observations }),
    emptyHints: createEmptyHints({ database, scans, now }),
    aggregates: createAggregates({
      database,
      limits,
      refresh,
      scans,
      quickScans,
      observations,
    }),
    history: createRecordHistory(database, scans),
    restore: createRestore({ database, records }),
    trash: createTrash(database, scans),
    restorePoints: createRestorePoints(database, now),
    undos: createUndoJobs({ database, collections, reach, now }),
    deletions: createDeletions({ database, send, refresh, scans, batches }),
    imports: createImports({ collections, lines, owners, personal, now }),
    importNames: { make: () => uuidv7(), now },
    exports: createExports({ database, scans, largeReads, answers }),
    users,
    newIds: createNewIds(users, now),
    personalFields: personal,
    cursorKeys,
    answers,
    feed: createFeed(database),
    streams,
    channels,
    now,
    // What no route calls.
    directories: { ...directories, recordsConfig, recordsArchive },
    deletionNotices,
    emailShares,
    findings,
    givenShares,
    liveSweeps: live.sweeps,
    observations,
    paidRecords,
    checks,
    send,
    slots,
    traffic,
    userEraser,
    wakes,
  };
};
