/**
 * The control plane: projects, their settings, limits and secret keys, owners' credits, and the
 * directory that the gateway asks for them. Owns no user and no record: owners are users of the
 * built-in project `platform`, kept by the auth service; others erase what they hold on `project.erased`.
 */
import {
  nobody,
  type ProjectSettings,
  type ProjectSnapshot,
  platformProject,
} from '@backlot/contract';
import { defineService } from '@backlot/service';
import { projectsConfig } from './config.ts';
import { createFeatures, type ProjectsContext } from './features.ts';
import { internalRouter } from './internal.ts';
import { maintenanceIntervalMs } from './ledger/credits.ts';
import { recheckIntervalMs } from './origins/origins.ts';
import { isProjectId } from './projects/project-id.ts';
import { createRoutes } from './routes/index.ts';
import { sealedSecrets } from './webhooks/secrets.ts';

export interface SeedProject {
  id: string;
  name: string;
  ownerId: string;
  settings?: ProjectSettings;
}

/** What a killed process has left of them is looked for so often. */
const resumeMs = 5000;

export const projectsService = defineService({
  name: 'projects',
  migrations: new URL('../migrations/', import.meta.url),
  config: projectsConfig,
  asks: [
    'accounts',
    'recordsConfig',
    'aiConfig',
    'emailConfig',
    'paymentsConfig',
    'usersArchive',
    'recordsArchive',
    'filesArchive',
    'filters',
    'authOperations',
    'recordsOperations',
    'aiOperations',
    'storageOperations',
    'emailOperations',
    'paymentsOperations',
  ],
  build(context: ProjectsContext) {
    const { database, log, config, findCounters } = context;
    const features = createFeatures(context);
    const { archives, audit, backups, budgetNotices, callLog, callSums, checkBounds } = features;
    const { configShares, credits, deletion, directory, findings, invitations } = features;
    const { keyDirectory, members, newProjects, operatorTokens, origins, owners } = features;
    const { projectFile, sealer, telling } = features;
    const sweep = async () => {
      const erased = await deletion.sweep();
      if (erased > 0) log.info({ erased }, 'erased projects that were past restoring');
    };
    return {
      routes: createRoutes(features),
      internal: internalRouter(features),
      queues: { configs: configShares, archives: archives.shares, ...telling.queues },
      seals: sealedSecrets(database, sealer),
      subscriptions: {
        async 'user.erased'({ projectNumber, userId, email }) {
          if (projectNumber === platformProject.number) {
            await deletion.removeAllOwnedBy(userId);
            await members.eraseAccount(userId, email);
            await audit.eraseUser(userId);
          } else {
            await telling.log.eraseUser(projectNumber, userId);
            await credits.eraseSpender(projectNumber, userId);
            await callLog.eraseUser(projectNumber, userId);
          }
        },
        async 'user.merged'({ projectNumber, guestId, userId }) {
          await telling.log.mergeUser(projectNumber, guestId, userId);
          await credits.mergeSpender(projectNumber, guestId, userId);
          await callLog.mergeUser(projectNumber, guestId, userId);
        },
        'platform.acted': (payload) => audit.take(payload),
        async 'user.verified'({ projectNumber, userId, email }) {
          if (projectNumber === platformProject.number && userId !== nobody)
            await members.setAddress(userId, email);
        },
        'app.event': (payload) => telling.take(payload),
        'finding.seen': (payload) => findings.take(payload),
        'owner.verified': (payload) => credits.ownerVerified(payload),
        'usage.recorded': (payload) => credits.consume(payload),
      },
      sweeps: [
        { run: sweep },
        { run: origins.recheck, everyMs: recheckIntervalMs },
        { run: () => checkBounds.sweep() },
        { run: () => budgetNotices.sweep() },
        { run: () => invitations.sweep() },
        { run: () => features.windowCounts.sweep() },
        { run: () => credits.forgetSpenders() },
        { run: projectFile.resume, everyMs: resumeMs },
        ...telling.sweeps,
        ...archives.sweeps,
        ...callLog.sweeps,
        ...audit.sweeps,
        ...callSums.sweeps,
        ...findings.sweeps,
        { run: credits.maintain, everyMs: maintenanceIntervalMs },
        { run: credits.reconcileInTurn, everyMs: config.reconcileSeconds * 1000 },
      ],
      needs: [backups.find, async () => findCounters?.()],
      drain: callLog.streams.drain,
      async stop() {
        callLog.streams.stop();
        await telling.stop();
      },
      api: {
        directories: {
          projects: directory,
          keys: keyDirectory,
          operators: { findOperator: operatorTokens.findOperator },
          hosts: { findHost: origins.findHost },
          owners: { isVerified: owners.isVerified },
          callLog: { takeCalls: callLog.takeCalls },
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
        /** Holds the logs of calls to what they may keep; also runs every 30 seconds. */
        keepCallBounds: (...most: Parameters<typeof callLog.keepBounds>) =>
          database.acrossProjects(() => callLog.keepBounds(...most)),
        /** Holds sums of calls to what they may keep; also runs every minute. */
        keepSumBounds: (most?: number) => database.acrossProjects(() => callSums.keepBounds(most)),
        /** Looks for bursts in the calls of all projects; also runs every minute. */
        findBursts: () => database.acrossProjects(findings.findBursts),
        /** Goes on with configs whose process was killed; also runs every five seconds. */
        resumeConfigs: () => database.acrossProjects(projectFile.resume),
        /** Tells of what has come behind events that never did; also runs every minute. */
        passGaps: () => database.acrossProjects(telling.passGaps),
        /** Erases what killed processes have left of imports; also runs every five seconds. */
        sweepImports: () => database.acrossProjects(archives.sweep),
        /** Looks again at origins that were proven a while ago; also runs every five minutes. */
        recheckOrigins: () => database.acrossProjects(origins.recheck),
        /** Forgets who spent credits long ago; also runs every hour. */
        forgetSpenders: () => database.acrossProjects(credits.forgetSpenders),
        /** Compares the ledger, balances and counters of all owners; every `reconcileSeconds` one process does. */
        reconcile: credits.reconcile,
        reconcileInTurn: credits.reconcileInTurn,
        /** Looks for lines of the audit log that were changed; also runs every ten minutes. */
        verifyAudit: () => database.acrossProjects(audit.verifyDue),
        /** Expires grants and makes those of a new month; also runs every minute. */
        maintain: credits.maintain,
        /** Creates a project of a chosen id unless there is one, which is left as it is. */
        async ensureProject({ id, ...wanted }: SeedProject): Promise<ProjectSnapshot> {
          if (!isProjectId(id)) throw new Error(`"${id}" can not be the id of a project.`);
          await database.transaction(() => newProjects.insert(id, wanted));
          const project = await directory.findProject(id);
          if (!project) throw new Error(`The project "${id}" was erased meanwhile.`);
          return project;
        },
      },
    };
  },
});
