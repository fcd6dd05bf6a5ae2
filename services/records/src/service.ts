/**
 * The records of all projects, their collections and who may do what with them. Owns the schema
 * `records`. Knows no account and no project beyond what a call's identity says; what a user's erasure
 * does with their records is a setting of each collection.
 */
import type { AccountDirectory, PeopleDirectory, UserDirectory } from '@backlot/contract';
import { mostBatched } from '@backlot/database';
import { connections, cpuWork, heldMemory } from '@backlot/fair-shares';
import { deriveOwnKeys } from '@backlot/identity';
import {
  archiveRouter,
  configRouter,
  createArchivePart,
  createConfigPart,
  createNoteFindings,
  defineService,
  type ServiceContext,
} from '@backlot/service';
import { uuidv7 } from 'uuidv7';
import { createForwarder, forwardEveryMs } from './app-events/forward.ts';
import { createTakeWants } from './app-events/wants.ts';
import { createCollectionsArchive } from './archive/collections-archive.ts';
import { createRecordsArchive } from './archive/records-archive.ts';
import { createSharesArchive } from './archive/shares-archive.ts';
import { createFeed } from './change-log/feed.ts';
import { beginLog, keepLogBytes, keepLogDays } from './change-log/keep-log.ts';
import { createAccessChecks } from './collections/access-check.ts';
import { createCollections } from './collections/collections.ts';
import { createCollectionsConfig } from './collections/config-store.ts';
import { createPersonalFields } from './collections/personal-fields.ts';
import { type RecordsConfig, recordsConfig } from './config.ts';
import { eraseProject } from './erasure/erase-project.ts';
import { createUserEraser } from './erasure/erase-user.ts';
import { createCollectionEraser } from './erasure/erasure.ts';
import { countCalls } from './exposure/count-calls.ts';
import { createExposures } from './exposure/exposure.ts';
import { createNoteOpenReads } from './exposure/open-reads.ts';
import {
  createTraffic,
  forgetTraffic,
  reportEveryMs as reportTrafficEveryMs,
} from './exposure/traffic.ts';
import { createTrafficReports } from './exposure/traffic-reports.ts';
import { createAccessTrials } from './exposure/try-access.ts';
import { createRecordHistory } from './history/record-history.ts';
import { createRestore } from './history/restore.ts';
import { createTrash } from './history/trash.ts';
import { createSlotAssignment } from './indexes/assign.ts';
import { createLimitsBuilder, forgetCounts } from './indexes/build-limits.ts';
import { createSearchBuilder } from './indexes/build-search.ts';
import { buildEveryMs, createSlotBuilder } from './indexes/build-slots.ts';
import { createUniqueBuilder } from './indexes/build-unique.ts';
import { createGlance } from './indexes/building/glance.ts';
import { createObservations, forgetObservations, reportEveryMs } from './indexes/observations.ts';
import { createWordsRenewal } from './indexes/renew-words.ts';
import { internalRouter } from './internal.ts';
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
import { createBatches } from './record/batch/batch.ts';
import { createSendChange } from './record/change/send-change.ts';
import { createClaimTurns } from './record/claims/claim-turns.ts';
import { createNewIds } from './record/new-ids.ts';
import { createQuota } from './record/quota/quota.ts';
import { countCollections, foldEveryMs, foldTotals } from './record/quota/totals.ts';
import { createRecordDirectory } from './record/record-directory.ts';
import { createRecords } from './record/records.ts';
import { createWriteChecks } from './record/schema/write-checks.ts';
import { createEmailShares } from './record/shares/email-shares.ts';
import { createGivenShares } from './record/shares/given-shares.ts';
import { mergeShares } from './record/shares/merged-shares.ts';
import { createShares } from './record/shares/shares.ts';
import { createReportRunner } from './reports/run-reports.ts';
import { createSchemaReports } from './reports/schema-reports.ts';
import { createRoutes } from './routes/index.ts';
import { createImportTurns, createWriteTurns } from './routes/turns.ts';
import { createShapes } from './shape/shapes.ts';
import { checkTextOrder } from './text-order.ts';
import { createExports } from './transfer/export/exports.ts';
import { createImports } from './transfer/import/imports.ts';
import { createOwners } from './transfer/import/owners.ts';
import { createWriteLines } from './transfer/import/write-lines.ts';
import { createDeletionNotices } from './undo/deletion-notices.ts';
import { createLogReach } from './undo/log-reach.ts';
import { createRestorePoints } from './undo/restore-points.ts';
import { createUndoRunner } from './undo/run-undo.ts';
import { createUndoJobs } from './undo/undo-jobs.ts';
import { filterDirectory } from './where/filter-directory.ts';

/** Pages that an index leads to, or as short, read at once: some of the connections, so that writes find one. */
const quickSlots = 6;

/** Single writes that run at once, of four owners at least; most are written together. */
const writePlaces = { places: 4 * mostBatched, perOwner: mostBatched };

/** Batches that are written at once: some of the connections, for the same reason. An owner's second is read meanwhile. */
const batchPlaces = { places: 3, perOwner: 2, maxWaiting: 500 };

/** Imports under way: each holds some megabytes, and writes in turns among the batches. */
const importPlaces = { places: 6, perOwner: 2, maxWaiting: 64 };

/** Small reads on the same connections, such as the list of collections. */
const smallReadPlaces = { places: 2, maxWaiting: 500 };

/** Parts of the log for streams that have missed some: each may want 100 of them. */
const catchUpPlaces = { places: 2, maxWaiting: 2000 };

/** Parts of large answers that PostgreSQL is at, up to 1 MiB each: they would wait for a second behind scans. */
const largeReadSlots = 2;

/** Parts of large answers in memory, up to 1 MiB each. Who waits holds a connection to the gateway. */
const largeAnswers = { places: 48 };

const noticeEveryMs = 2000;

export interface RecordsContext extends ServiceContext<RecordsConfig> {
  /** For what an owner asks about a user, whose an address is, and for new records under ids that a client chose. */
  users: UserDirectory;
  /** For the names of those who write, where a schema asks for them. */
  accounts: AccountDirectory;
  /** For users in place of their ids. */
  people: PeopleDirectory;
}

export const recordsService = defineService({
  name: 'records',
  migrations: new URL('../migrations/', import.meta.url),
  // The first one decides where the others lie. `project_owners` is read by owner, across projects.
  distributed: [
    'collections',
    'slots',
    'observations',
    'records',
    'shares',
    'paid_records',
    'reports',
    'user_erasures',
    'unique_fields',
    'unique_values',
    'searches',
    'search_texts',
    'schema_reports',
    'record_limits',
    'record_counts',
    'count_delta',
    'totals',
    'changes',
    'change_floors',
    'restore_points',
    'undo_jobs',
    'undo_records',
    'deletion_notices',
    'told_projects',
    'ended_collections',
    'traffic',
    'visits',
  ],
  config: recordsConfig,
  asks: ['users', 'accounts', 'people'],
  hasNoRowSecurity: true,
  build(context: RecordsContext) {
    const { database, outbox, bus, log, now, config, identityKeys, users, accounts, people } =
      context;
    const { limits } = config;
    const places = config.scanConcurrency;
    const scans = cpuWork({ places, quickPlaces: quickSlots, restRatio: 1 });
    const quickScans = cpuWork({ places });
    const largeReads = cpuWork({ places: Math.min(largeReadSlots, places), restRatio: 1 });
    const batches = connections(batchPlaces);
    const writes = connections(writePlaces);
    const imports = connections(importPlaces);
    const smallReads = connections(smallReadPlaces);
    const catchUps = connections(catchUpPlaces);
    const answers = heldMemory(largeAnswers);
    const glance = createGlance(database);
    const quota = createQuota({ database, limits: config.quota, now });
    const slots = createSlotAssignment(database, outbox);
    const observations = createObservations({ database, slots, now });
    const collections = createCollections({ database, outbox, slots, places: config.places, now });
    const { refresh } = collections;
    const claimTurns = createClaimTurns(database);
    const deletionNotices = createDeletionNotices({ database, outbox, now });
    const { streams, channels, wakes, ...live } = createLive({
      database,
      bus,
      catchUps,
      find: collections.find,
      forget: collections.invalidate,
      cursorKeys: deriveOwnKeys(identityKeys, 'records', 'list cursor'),
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
    const reach = createLogReach({ database, historyDays: config.history.days, now });
    const recordsArchive = createArchivePart(database, {
      collections: createCollectionsArchive(collections, reach),
      shares: createSharesArchive(database, quota, batches),
      records: createRecordsArchive({ database, collections, send, quota, scans, batches, now }),
    });
    const shapes = createShapes({ database, collections, scans });
    const slotBuilder = createSlotBuilder({ database, outbox });
    const uniqueBuilder = createUniqueBuilder({ database, outbox, quota });
    const reportRunner = createReportRunner(database, now);
    const directories = {
      shapes,
      records: createRecordDirectory({ database, collections, reads: smallReads }),
      filters: filterDirectory,
    };
    const eraser = createCollectionEraser(database, outbox);
    const userEraser = createUserEraser({ database, collections, send, users, now });
    const searchBuilder = createSearchBuilder({ database, outbox, quota });
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
    const limitsBuilder = createLimitsBuilder({ database, outbox, quota });
    const undoRunner = createUndoRunner({ database, collections, send, checks, quota, now });
    const wordsRenewal = createWordsRenewal(database, outbox);
    const forwarder = createForwarder(database, outbox);
    const accessChecks = createAccessChecks(database);
    const findings = createNoteFindings(outbox, now);
    const noteOpenReads = createNoteOpenReads(database, findings);
    const traffic = createTraffic(database, now, noteOpenReads);
    return {
      routes: createRoutes({
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
        batchTurns: createWriteTurns(batches, database.retryLocked),
        writeTurns: createWriteTurns(writes, database.retryLocked),
        smallReads,
        quota,
        shapes,
        schemaReports: createSchemaReports({ database, collections, now }),
        lists,
        parseSearch: createParseSearch(database),
        shownRecords: createShownRecords(
          createIncludes(collections, lists, createPeople(people, now)),
        ),
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
        importTurns: createImportTurns(imports),
        exports: createExports({ database, scans, largeReads, answers }),
        users,
        newIds: createNewIds(users, now),
        personalFields: personal,
        cursorKeys: deriveOwnKeys(identityKeys, 'records', 'list cursor'),
        answers,
        feed: createFeed(database),
        streams,
        channels,
        now,
      }).map((route) => countCalls(route, traffic)),
      internal: internalRouter(directories)
        .use(configRouter(recordsConfig))
        .use(archiveRouter(recordsArchive)),
      api: {
        directories: { ...directories, recordsConfig, recordsArchive },
        /** Writes what was counted of calls; also runs every five seconds. */
        reportTraffic: traffic.report,
        /** Tells what was noted of exposures; also runs every five seconds. */
        reportFindings: findings.report,
      },
      queues: {
        scans,
        quickScans,
        writes,
        batches,
        imports,
        smallReads,
        largeReads,
        catchUps,
        answers,
      },
      subscriptions: {
        'project.erased': ({ projectNumber }) => eraseProject(database, projectNumber),
        'webhooks.changed': createTakeWants(database),
        'record.paid': (paid) => paidRecords.receive(paid),
        'user.verified': (user) => emailShares.take(user),
        'user.changed': ({ projectNumber, userIds }) => givenShares.check(projectNumber, userIds),
        'share.given': ({ projectNumber, userId }) => givenShares.check(projectNumber, [userId]),
        async 'user.erased'(user) {
          await emailShares.eraseUser(user);
          await givenShares.check(user.projectNumber, [user.userId]);
          await reports.eraseUser(user.projectNumber, user.userId);
          await userEraser.begin(user.projectNumber, user.userId);
        },
        async 'user.merged'({ projectNumber, guestId, userId }) {
          await mergeShares(database, projectNumber, guestId, userId);
          await givenShares.check(projectNumber, [userId]);
          await reports.mergeUser(projectNumber, guestId, userId);
          await userEraser.beginMerge(projectNumber, guestId, userId);
        },
      },
      sweeps: [
        { run: () => foldTotals(database), everyMs: foldEveryMs },
        ...live.sweeps,
        { run: () => keepLogDays(database, config.history, now) },
        { run: () => keepLogBytes(database, config.history) },
        { run: () => beginLog(database) },
        { run: glance.before(forwarder), everyMs: forwardEveryMs },
        { run: () => countCollections(database) },
        { run: glance.before(slotBuilder), everyMs: buildEveryMs },
        { run: glance.before(uniqueBuilder), everyMs: buildEveryMs },
        { run: glance.before(searchBuilder), everyMs: buildEveryMs },
        { run: glance.before(limitsBuilder), everyMs: buildEveryMs },
        { run: () => forgetCounts(database, now) },
        { run: glance.before(wordsRenewal), everyMs: buildEveryMs },
        { run: glance.before(reportRunner), everyMs: buildEveryMs },
        { run: () => deletionNotices.run(), everyMs: noticeEveryMs },
        { run: glance.before(undoRunner), everyMs: buildEveryMs },
        { run: glance.before(eraser), everyMs: buildEveryMs },
        { run: glance.before(userEraser), everyMs: buildEveryMs },
        { run: () => reports.sweep() },
        { run: () => observations.report(), everyMs: reportEveryMs },
        { run: () => slots.dropUnused() },
        { run: () => forgetObservations(database, now) },
        { run: () => traffic.report(), everyMs: reportTrafficEveryMs },
        { run: () => forgetTraffic(database, now) },
        findings.sweep,
      ],
      listeners: {
        'collection.changed'({ projectNumber, name }) {
          collections.invalidate(projectNumber, name);
          streams.noteChanged(projectNumber, name);
        },
        'channel.said': channels.hearSaid,
        'presence.told': channels.hearPresence,
        'log.watched': wakes.hearWatched,
        'log.written': wakes.hearWritten,
      },
      drain: streams.drain,
      stop: findings.reportAll,
      /** @throws where the database sorts texts in an order that the service can't use */
      start: () => checkTextOrder(database),
    };
  },
});
