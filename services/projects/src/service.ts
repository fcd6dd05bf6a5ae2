/**
 * The control plane: projects, their settings, limits and secret keys, owners' credits, and the
 * directory that the gateway asks for them. Owns no user and no record: owners are users of the
 * built-in project `platform`, kept by the auth service; others erase what they hold on `project.erased`.
 */
import {
  type AccountDirectory,
  type ProjectSettings,
  type ProjectSnapshot,
  platformProject,
} from '@backlot/contract';
import { defineService, type ServiceContext } from '@backlot/service';
import { type ProjectsConfig, projectsConfig } from './config.ts';
import { internalRouter } from './internal.ts';
import type { LedgerCounters } from './ledger/balance-notifier.ts';
import { createBudgetNotices } from './ledger/budget-notices.ts';
import { createCredits, maintenanceIntervalMs } from './ledger/credits.ts';
import { createUsageReports } from './ledger/usage-report.ts';
import { createCheckBounds } from './origins/check-bounds.ts';
import { hostName, isLoopbackHost, type Names, systemNames } from './origins/network.ts';
import { createOrigins, recheckIntervalMs } from './origins/origins.ts';
import { createFindProof } from './origins/proof.ts';
import { createOwners } from './owners.ts';
import { createDeletion } from './projects/deletion.ts';
import { createDirectory, createKeyDirectory } from './projects/directory.ts';
import { createKeys } from './projects/keys.ts';
import { createLimits } from './projects/limits.ts';
import { isProjectId } from './projects/project-id.ts';
import { createProjects } from './projects/projects.ts';
import { routesForCredits } from './routes/credits.ts';
import { routesForKeys } from './routes/keys.ts';
import { routesForOrigins } from './routes/origins.ts';
import { routesForProjects } from './routes/projects.ts';

export interface ProjectsContext extends ServiceContext<ProjectsConfig> {
  /** The gateway's working copy of credits. */
  counters: LedgerCounters;
  /** Owners are users of the project `platform`. */
  accounts: AccountDirectory;
  /** The system's unless a test brings its own. */
  names?: Names;
}

export interface SeedProject {
  id: string;
  name: string;
  ownerId: string;
  settings?: ProjectSettings;
}

export const projectsService = defineService({
  name: 'projects',
  migrations: new URL('../migrations/', import.meta.url),
  config: projectsConfig,
  asks: ['accounts'],
  build(context: ProjectsContext) {
    const { database, outbox, now, log, config } = context;
    const { isOwnerVerificationOn: isVerificationOn } = config;
    const owners = createOwners({ accounts: context.accounts, isVerificationOn });
    const projects = createProjects({ database, outbox, config, owners, now });
    const deletion = createDeletion({ database, outbox, projects, config, now });
    const limits = createLimits({ database, projects, config, now });
    const keys = createKeys({ database, outbox, projects, config, now });
    const allowsLoopback = isLoopbackHost(hostName(config.publicUrl));
    const checkBounds = createCheckBounds(database, now);
    const findProof = createFindProof({ names: context.names ?? systemNames, allowsLoopback });
    const origins = createOrigins({
      database,
      projects,
      checkBounds,
      findProof,
      allowsLoopback,
      now,
    });
    const directory = createDirectory({ database, config, now, log });
    const keyDirectory = createKeyDirectory({ database, now });
    const credits = createCredits({ ...context, ...config, owners });
    const budgetNotices = createBudgetNotices({ database, outbox, now });
    const usageReports = createUsageReports(database, projects, now);
    const sweep = async () => {
      const erased = await deletion.sweep();
      if (erased > 0) log.info({ erased }, 'erased projects that were past restoring');
    };
    return {
      routes: [
        ...routesForProjects(projects, deletion, limits),
        ...routesForKeys(keys),
        ...routesForOrigins(origins),
        ...routesForCredits(credits, usageReports, config.priceChanges),
      ],
      internal: internalRouter(directory, keyDirectory, credits, budgetNotices, owners),
      subscriptions: {
        async 'user.erased'({ projectNumber, userId }) {
          if (projectNumber === platformProject.number) await deletion.removeAllOwnedBy(userId);
        },
        'owner.verified': (payload) => credits.ownerVerified(payload),
        'usage.recorded': (payload) => credits.consume(payload),
      },
      sweeps: [
        { run: sweep },
        { run: origins.recheck, everyMs: recheckIntervalMs },
        { run: () => checkBounds.sweep() },
        { run: () => budgetNotices.sweep() },
        { run: credits.maintain, everyMs: maintenanceIntervalMs },
        { run: credits.reconcileInTurn, everyMs: config.reconcileSeconds * 1000 },
      ],
      api: {
        directories: {
          projects: directory,
          keys: keyDirectory,
          owners: { isVerified: owners.isVerified },
          credits: {
            loadOwner: async (...asked: Parameters<typeof credits.loadOwner>) =>
              void (await credits.loadOwner(...asked)),
            noteRefusal: budgetNotices.note,
          },
        },
        /** Erases projects that are past restoring; also runs every hour. */
        sweep,
        /** Has the counters know this owner's balance, the grant of the month included. */
        loadOwner: credits.loadOwner,
        /** Looks again at origins that were proven a while ago; also runs every five minutes. */
        recheckOrigins: () => database.acrossProjects(origins.recheck),
        /** Compares the ledger, balances and counters of all owners; every `reconcileSeconds` one process does. */
        reconcile: credits.reconcile,
        reconcileInTurn: credits.reconcileInTurn,
        /** Expires grants and makes those of a new month; also runs every minute. */
        maintain: credits.maintain,
        /** Creates a project of a chosen id unless there is one, which is left as it is. */
        async ensureProject({ id, ...wanted }: SeedProject): Promise<ProjectSnapshot> {
          if (!isProjectId(id)) throw new Error(`"${id}" can not be the id of a project.`);
          await database.transaction(() => projects.insert(id, wanted));
          const project = await directory.findProject(id);
          if (!project) throw new Error(`The project "${id}" was erased meanwhile.`);
          return project;
        },
      },
    };
  },
});
