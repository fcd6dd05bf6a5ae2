/**
 * The records of all projects, their collections and who may do what with them. Owns the schema
 * `records`. Knows no account and no project beyond what a call's identity says; what a user's erasure
 * does with their records is a setting of each collection.
 */
import { archiveRouter, configRouter, defineService } from '@backlot/service';
import { createTakeWants } from './app-events/wants.ts';
import { recordsConfig } from './config.ts';
import { eraseProject } from './erasure/erase-project.ts';
import { countCalls } from './exposure/count-calls.ts';
import { createFeatures, type RecordsContext } from './features.ts';
import { internalRouter } from './internal.ts';
import { createQueues } from './queues.ts';
import { mergeShares } from './record/shares/merged-shares.ts';
import { createRoutes } from './routes/index.ts';
import { createImportTurns, createWriteTurns } from './routes/turns.ts';
import { createSweeps } from './sweeps.ts';
import { checkTextOrder } from './text-order.ts';

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
    const { database } = context;
    const queues = createQueues(context.config);
    const features = createFeatures(context, queues);
    const { channels, collections, directories, findings, streams, traffic, wakes } = features;
    const { emailShares, givenShares, paidRecords, reports, userEraser } = features;
    return {
      routes: createRoutes({
        ...features,
        writeTurns: createWriteTurns(queues.writes, database.retryLocked),
        batchTurns: createWriteTurns(queues.batches, database.retryLocked),
        importTurns: createImportTurns(queues.imports),
      }).map((route) => countCalls(route, traffic)),
      internal: internalRouter(directories)
        .use(configRouter(directories.recordsConfig))
        .use(archiveRouter(directories.recordsArchive)),
      api: {
        directories,
        /** Writes what was counted of calls; also runs every five seconds. */
        reportTraffic: traffic.report,
        /** Tells what was noted of exposures; also runs every five seconds. */
        reportFindings: findings.report,
      },
      queues,
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
      sweeps: createSweeps(context, features),
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
