/**
 * The records of all projects, their collections and who may do what with them. Owns the schema
 * `records`. Knows no account and no project beyond what a call's identity says; a user's erasure
 * leaves their records as they are, with the id of an owner that nobody has any more.
 */
import type { UserDirectory } from '@backlot/contract';
import { mostBatched } from '@backlot/database';
import { connections, cpuWork, heldMemory } from '@backlot/fair-shares';
import { deriveOwnKeys } from '@backlot/identity';
import { defineService, type ServiceContext } from '@backlot/service';
import { createAccessChecks } from './collections/access-check.ts';
import { createCollections } from './collections/collections.ts';
import { createPersonalFields } from './collections/personal-fields.ts';
import { type RecordsConfig, recordsConfig } from './config.ts';
import { eraseProject } from './erasure/erase-project.ts';
import { createCollectionEraser } from './erasure/erasure.ts';
import { createSlotAssignment } from './indexes/assign.ts';
import { createSearchBuilder } from './indexes/build-search.ts';
import { buildEveryMs, createSlotBuilder } from './indexes/build-slots.ts';
import { createUniqueBuilder } from './indexes/build-unique.ts';
import { createObservations, forgetObservations, reportEveryMs } from './indexes/observations.ts';
import { createWordsRenewal } from './indexes/renew-words.ts';
import { internalRouter } from './internal.ts';
import { createAggregates } from './list/aggregates.ts';
import { createCounts } from './list/counts.ts';
import { createDeletions } from './list/deletions.ts';
import { createEmptyHints } from './list/empty/empty-hints.ts';
import { createLists } from './list/lists.ts';
import { createParseSearch } from './list/parse-search.ts';
import { createIncludes } from './list/shown/include.ts';
import { createShownRecords } from './list/shown/shown-records.ts';
import { createPaidRecords } from './paid/paid-records.ts';
import { createBatches } from './record/batch/batch.ts';
import { createSendChange } from './record/change/send-change.ts';
import { createClaimTurns } from './record/claims/claim-turns.ts';
import { createNewIds } from './record/new-ids.ts';
import { createQuota } from './record/quota/quota.ts';
import { countCollections, foldEveryMs, foldTotals } from './record/quota/totals.ts';
import { createRecords } from './record/records.ts';
import { createEmailShares } from './record/shares/email-shares.ts';
import { createGivenShares } from './record/shares/given-shares.ts';
import { createShares } from './record/shares/shares.ts';
import { createRoutes } from './routes/index.ts';
import { createWriteTurns } from './routes/turns.ts';
import { createShapes } from './shape/shapes.ts';
import { checkTextOrder } from './text-order.ts';

/** Pages that an index leads to, or as short, read at once: some of the connections, so that writes find one. */
const quickSlots = 6;

/**
 * Single writes that run at once, of four owners at least: most are written together, and a connection is shared
 * out once more. Changes of one record wait for each other on their connections, for 200 ms at most.
 */
const writePlaces = { places: 4 * mostBatched, perOwner: mostBatched };

/** Batches that are written at once: some of the connections, for the same reason. An owner's second is read meanwhile. */
const batchPlaces = { places: 3, perOwner: 2, maxWaiting: 500 };

/** Small reads on the same connections, such as the list of collections. */
const smallReadPlaces = { places: 2, maxWaiting: 500 };

/**
 * Parts of large answers that PostgreSQL is at, up to 1 MiB each. They keep a core busy as a scan does, and would wait
 * for its second where they came behind it.
 */
const largeReadSlots = 2;

/**
 * Parts of large answers in memory, read or not yet taken by their callers: up to 1 MiB each. Who waits
 * holds a connection to the gateway.
 */
const largeAnswers = { places: 48 };

/** What records ask of others. */
export interface RecordsContext extends ServiceContext<RecordsConfig> {
  /** For what an owner asks about a user, whose an address is, and for new records under ids that a client chose. */
  users: UserDirectory;
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
    'unique_fields',
    'unique_values',
    'searches',
    'search_texts',
    'count_delta',
    'totals',
  ],
  config: recordsConfig,
  asks: ['users'],
  hasNoRowSecurity: true,
  build({ database, outbox, now, config, identityKeys, users }: RecordsContext) {
    const { limits } = config;
    const places = config.scanConcurrency;
    const scans = cpuWork({ places, quickPlaces: quickSlots, restRatio: 1 });
    const quickScans = cpuWork({ places });
    const largeReads = cpuWork({ places: Math.min(largeReadSlots, places), restRatio: 1 });
    const batches = connections(batchPlaces);
    const writes = connections(writePlaces);
    const smallReads = connections(smallReadPlaces);
    const answers = heldMemory(largeAnswers);
    const quota = createQuota({ database, limits: config.quota, now });
    const slots = createSlotAssignment(database, outbox);
    const observations = createObservations({ database, slots, now });
    const collections = createCollections({ database, outbox, slots, places: config.places, now });
    const { refresh } = collections;
    const claimTurns = createClaimTurns(database);
    const send = createSendChange(database);
    const records = createRecords({
      database,
      send,
      quota,
      refresh,
      largeReads,
      answers,
      claimTurns,
      now,
    });
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
    const shapes = createShapes({ database, collections, scans });
    const slotBuilder = createSlotBuilder({ database, outbox });
    const uniqueBuilder = createUniqueBuilder({ database, outbox, quota });
    const eraser = createCollectionEraser(database, outbox);
    const searchBuilder = createSearchBuilder({ database, outbox, quota });
    const wordsRenewal = createWordsRenewal(database, outbox);
    return {
      routes: createRoutes({
        accessChecks: createAccessChecks(database),
        collections,
        records,
        shares: createShares({ database, outbox, quota, now }),
        batches: createBatches({ database, send, quota, refresh, claimTurns, now }),
        batchTurns: createWriteTurns(batches, database.retryLocked),
        writeTurns: createWriteTurns(writes, database.retryLocked),
        smallReads,
        quota,
        shapes,
        lists,
        parseSearch: createParseSearch(database),
        shownRecords: createShownRecords(createIncludes(collections, lists)),
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
        deletions: createDeletions({ database, send, refresh, scans, batches }),
        users,
        newIds: createNewIds(users, now),
        personalFields: createPersonalFields(database, collections),
        cursorKeys: deriveOwnKeys(identityKeys, 'records', 'list cursor'),
      }),
      internal: internalRouter(shapes),
      api: { directories: { shapes } },
      queues: { scans, quickScans, writes, batches, smallReads, largeReads, answers },
      subscriptions: {
        'project.erased': ({ projectNumber }) => eraseProject(database, projectNumber),
        'record.paid': (paid) => paidRecords.receive(paid),
        'user.verified': (user) => emailShares.take(user),
        'user.changed': ({ projectNumber, userIds }) => givenShares.check(projectNumber, userIds),
        'share.given': ({ projectNumber, userId }) => givenShares.check(projectNumber, [userId]),
        async 'user.erased'(user) {
          await emailShares.eraseUser(user);
          await givenShares.check(user.projectNumber, [user.userId]);
        },
      },
      sweeps: [
        { run: () => foldTotals(database), everyMs: foldEveryMs },
        { run: () => countCollections(database) },
        { run: () => slotBuilder.run(), everyMs: buildEveryMs },
        { run: () => uniqueBuilder.run(), everyMs: buildEveryMs },
        { run: () => searchBuilder.run(), everyMs: buildEveryMs },
        { run: () => wordsRenewal.run(), everyMs: buildEveryMs },
        { run: () => eraser.run(), everyMs: buildEveryMs },
        { run: () => observations.report(), everyMs: reportEveryMs },
        { run: () => slots.dropUnused() },
        { run: () => forgetObservations(database, now) },
      ],
      listeners: {
        'collection.changed': ({ projectNumber, name }) =>
          collections.invalidate(projectNumber, name),
      },
      /** @throws where the database sorts texts in an order that the service can't use */
      start: () => checkTextOrder(database),
    };
  },
});
