/**
 * The control plane: projects, their settings, limits and secret keys, owners' credits, and the
 * directory that the gateway asks for them. Owns no user and no record: owners are users of the
 * built-in project `platform`, kept by the auth service; others erase what they hold on `project.erased`.
 */
import type { Bus } from '@backlot/bus';
import {
  events,
  type ProjectDirectory,
  type ProjectSnapshot,
  platformProject,
} from '@backlot/contract';
import {
  createIdempotencyStore,
  createOutbox,
  createSweeper,
  type Database,
} from '@backlot/database';
import { serviceApp } from '@backlot/http';
import type { IdentitySecret } from '@backlot/identity';
import type { Logger, Registry } from '@backlot/telemetry';
import type { Express } from 'express';
import type { ProjectsConfig } from './config.ts';
import { createDeletion } from './deletion.ts';
import { createDirectory } from './directory.ts';
import { internalRouter } from './internal.ts';
import { createKeys } from './keys.ts';
import { createCredits } from './ledger/credits.ts';
import type { Reconciled } from './ledger/reconciliation.ts';
import type { LedgerCounters, OwnerCredits } from './ledger/telling.ts';
import { createUsageReports } from './ledger/usage-report.ts';
import { createLimits } from './limits.ts';
import { isProjectId } from './project-id.ts';
import { createProjects } from './projects.ts';
import { routesOf } from './routes/index.ts';

export interface ProjectsDeps {
  /** Of schema `projects`, migrated. */
  database: Database;
  bus: Bus;
  identitySecret: IdentitySecret;
  /** Epoch milliseconds. */
  now: () => number;
  log: Logger;
  config: ProjectsConfig;
  /** Validates answers against the contract; on in tests. */
  checkResponses: boolean;
  /** The gateway's working copy of credits. */
  counters: LedgerCounters;
  registry?: Registry;
}

export interface SeedProject {
  id: string;
  name: string;
  ownerId: string;
}

export interface ProjectsService {
  app: Express;
  directory: ProjectDirectory;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Erases projects that are past restoring; also runs every hour. */
  sweep(): Promise<void>;
  /** Creates a project of a chosen id unless there is one, which is left as it is. */
  ensureProject(seed: SeedProject): Promise<ProjectSnapshot>;
  credits: {
    /** Has the counters know this owner's balance, the grant of the month included. */
    loadOwner(ownerId: string): Promise<OwnerCredits>;
  };
  /** Compares the books of all owners; also runs every `reconcileSeconds`. */
  reconcile(): Promise<Reconciled>;
  /** Books what time alone does to credits; also runs every minute. */
  keepUp(): Promise<void>;
}

export const createProjectsService = (deps: ProjectsDeps): ProjectsService => {
  const { database, bus, identitySecret, now, log, config, checkResponses } = deps;
  const outbox = createOutbox(database, (error) =>
    log.error({ err: error }, 'events wait to be published'),
  );
  const idempotency = createIdempotencyStore(database);
  const projects = createProjects({ database, outbox, config, now });
  const deletion = createDeletion({ database, outbox, projects, config, now });
  const limits = createLimits({ database, projects, config, now });
  const keys = createKeys({ database, outbox, projects, config, now });
  const directory = createDirectory(database, config);
  const credits = createCredits({ ...deps, ...config, outbox });
  const usage = createUsageReports(database, projects, now);

  const sweep = async () => {
    const erased = await deletion.sweep();
    if (erased > 0) log.info({ erased }, 'erased projects that were past restoring');
    await idempotency.sweep();
  };
  const sweeper = createSweeper(sweep, (error) =>
    log.error({ err: error }, 'the sweep failed; it runs again'),
  );

  return {
    app: serviceApp({
      routes: routesOf({ projects, deletion, limits, keys, credits, usage }),
      internal: internalRouter(directory, credits, identitySecret, now),
      ready: () => database.query('SELECT 1'),
      identitySecret,
      idempotency,
      now,
      log,
      checkResponses,
    }),
    directory,
    async start() {
      await bus.subscribe({
        queue: 'projects',
        topics: ['user.erased'],
        handler: async ({ payload }) => {
          const { projectNumber, userId } = events['user.erased'].parse(payload);
          if (projectNumber === platformProject.number) await deletion.removeAllOf(userId);
        },
      });
      await bus.subscribe({
        queue: 'projects.usage',
        topics: ['usage.recorded'],
        handler: ({ payload }) => credits.consume(payload),
      });
      outbox.start((event) => bus.publish(event));
      sweeper.start();
      credits.start();
    },
    async stop() {
      await Promise.all([sweeper, credits, outbox].map((each) => each.stop()));
    },
    sweep,
    credits: { loadOwner: credits.loadOwner },
    reconcile: credits.reconcile,
    keepUp: credits.keepUp,
    async ensureProject({ id, name, ownerId }) {
      if (!isProjectId(id)) throw new Error(`"${id}" can not be the id of a project.`);
      await database.transaction(() => projects.insert(id, { name, ownerId }));
      const project = await directory.findProject(id);
      if (!project) throw new Error(`The project "${id}" was erased meanwhile.`);
      return project;
    },
  };
};
