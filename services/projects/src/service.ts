/**
 * The control plane: projects, their settings, limits and secret keys, owners' credits, and the
 * directory that the gateway asks for them. Owns no user and no record: owners are users of the
 * built-in project `platform`, kept by the auth service; others erase what they hold on `project.erased`.
 */
import {
  type AccountDirectory,
  type ConfigDirectory,
  type FilterDirectory,
  nobody,
  type ProjectSettings,
  type ProjectSnapshot,
  platformProject,
} from '@backlot/contract';
import { outsideCalls } from '@backlot/fair-shares';
import type { Finding } from '@backlot/http';
import { hostName, isLoopbackHost, type Names, systemNames } from '@backlot/outgoing';
import { createSealer } from '@backlot/sealing';
import { createWindowCounts, defineService, type ServiceContext } from '@backlot/service';
import { type ArchiveDirectories, createArchives } from './archive/archives.ts';
import { createAudit } from './audit/audit.ts';
import { createCallLog } from './call-log/call-log.ts';
import { createCallSums } from './call-sums/call-sums.ts';
import { type ProjectsConfig, projectsConfig } from './config.ts';
import { createFindings } from './findings/findings.ts';
import { internalRouter } from './internal.ts';
import type { LedgerCounters } from './ledger/balance-notifier.ts';
import { createBudgetNotices } from './ledger/budget-notices.ts';
import { createCredits, maintenanceIntervalMs } from './ledger/credits.ts';
import { createUsageReports } from './ledger/usage-report.ts';
import { createInvitations } from './members/invitations.ts';
import { createMembers } from './members/members.ts';
import { createAllServices, type OtherOperations } from './operators/all-services.ts';
import { createBackups } from './operators/backups.ts';
import { createOperatorTokens } from './operators/operator-tokens.ts';
import { createParkedEvents } from './operators/parked-events.ts';
import { createCheckBounds } from './origins/check-bounds.ts';
import { createOrigins, recheckIntervalMs } from './origins/origins.ts';
import { createFindProof } from './origins/proof.ts';
import { createOwners } from './owners.ts';
import { createApplications } from './project-file/applications.ts';
import type { Parts } from './project-file/carry-out.ts';
import { createHistory } from './project-file/history.ts';
import { createOwnPart } from './project-file/own-part.ts';
import { createProjectFile } from './project-file/project-file.ts';
import { createDeletion } from './projects/deletion.ts';
import { createDirectory, createKeyDirectory } from './projects/directory.ts';
import { createKeys } from './projects/keys.ts';
import { createLimits } from './projects/limits.ts';
import { createListProjects } from './projects/list-projects.ts';
import { createNewProjects } from './projects/new-projects.ts';
import { createPreviews } from './projects/previews.ts';
import { isProjectId } from './projects/project-id.ts';
import { createProjects } from './projects/projects.ts';
import { createRoles } from './projects/roles.ts';
import { routesForArchives } from './routes/archives.ts';
import { routesForAudit } from './routes/audit.ts';
import { routesForBackups } from './routes/backups.ts';
import { routesForConfig } from './routes/config.ts';
import { routesForCredits } from './routes/credits.ts';
import { routesForFindings } from './routes/findings.ts';
import { routesForKeys } from './routes/keys.ts';
import { routesForMembers } from './routes/members.ts';
import { routesForOperatorTokens } from './routes/operator-tokens.ts';
import { routesForOrigins } from './routes/origins.ts';
import { routesForParkedEvents } from './routes/parked-events.ts';
import { routesForPlatformUsage } from './routes/platform-usage.ts';
import { routesForPreviews } from './routes/previews.ts';
import { routesForProjects } from './routes/projects.ts';
import { routesForRequests } from './routes/requests.ts';
import { routesForRoles } from './routes/roles.ts';
import { routesForSealedSecrets } from './routes/sealed-secrets.ts';
import { routesForSuspensions } from './routes/suspensions.ts';
import { routesForWebhooks } from './routes/webhooks.ts';
import { createSuspensions } from './suspensions/suspensions.ts';
import { sealedSecrets } from './webhooks/secrets.ts';
import { createTelling } from './webhooks/telling.ts';

export interface ProjectsContext
  extends ServiceContext<ProjectsConfig>,
    ArchiveDirectories,
    OtherOperations {
  /** The gateway's working copy of credits. */
  counters: LedgerCounters;
  /** Absent where they live in this process. */
  findCounters?: () => Finding;
  /** Owners are users of the project `platform`. */
  accounts: AccountDirectory;
  /** What others keep of what owners set. */
  recordsConfig: ConfigDirectory;
  aiConfig: ConfigDirectory;
  emailConfig: ConfigDirectory;
  paymentsConfig: ConfigDirectory;
  filters: FilterDirectory;
  /** The system's unless a test brings its own. */
  names?: Names;
}

export interface SeedProject {
  id: string;
  name: string;
  ownerId: string;
  settings?: ProjectSettings;
}

/** Files with all that an owner sets that are read or applied at once; each holds a connection of another service. */
const configPlaces = { places: 3, maxWaiting: 100 };
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
    const { database, outbox, now, log, config, findCounters } = context;
    const { isOwnerVerificationOn: isVerificationOn } = config;
    const owners = createOwners({ accounts: context.accounts, isVerificationOn });
    const projects = createProjects({ database, outbox, config, now });
    const newProjects = createNewProjects({ database, projects, config, owners, now });
    const deletion = createDeletion({ database, outbox, projects, config, now });
    const limits = createLimits({ database, projects, config, now });
    const roles = createRoles({ database, projects, now });
    const members = createMembers({ database, projects, owners, now });
    const windowCounts = createWindowCounts(database, now);
    const invitations = createInvitations({ ...context, projects, members, owners, windowCounts });
    const keys = createKeys({ database, outbox, projects, config, now });
    const allowsLoopback = isLoopbackHost(hostName(config.publicUrl));
    const checkBounds = createCheckBounds(database, now);
    const names = context.names ?? systemNames;
    const findProof = createFindProof({ names, allowsLoopback });
    const sealer = createSealer(config.masterKeys);
    const allServices = createAllServices(context);
    const telling = createTelling({ ...context, names, projects, sealer });
    const origins = createOrigins({
      database,
      projects,
      checkBounds,
      findProof,
      allowsLoopback,
      now,
    });
    const operatorTokens = createOperatorTokens({ database, outbox, now, log });
    const backups = createBackups({ database, dueHours: config.backupHours, now });
    const directory = createDirectory({ database, config, now, log });
    const keyDirectory = createKeyDirectory({ database, now });
    const callSums = createCallSums(context);
    const { addCosts } = callSums;
    const credits = createCredits({ ...context, ...config, owners, addCosts });
    const findings = createFindings({ database, outbox, windowCounts, now });
    const budgetNotices = createBudgetNotices({ database, outbox, now });
    const usageReports = createUsageReports(database, projects, now);
    const audit = createAudit({ database, log, now });
    const callLog = createCallLog({ ...context, sums: callSums });
    const configParts: Parts = [
      {
        name: 'projects',
        directory: createOwnPart({
          database,
          projects,
          limits,
          roles,
          webhooks: telling.webhooks,
        }),
      },
      { name: 'records', directory: context.recordsConfig },
      { name: 'ai', directory: context.aiConfig },
      { name: 'email', directory: context.emailConfig },
      { name: 'payments', directory: context.paymentsConfig },
    ];
    const projectFile = createProjectFile({
      projects,
      parts: configParts,
      applications: createApplications(database, now),
      listHistory: createHistory(database),
      now,
      log,
    });
    const configShares = outsideCalls(configPlaces);
    const previews = createPreviews({ database, projects });
    const archives = createArchives({
      ...context,
      projects,
      newProjects,
      projectFile,
      configParts,
    });
    const sweep = async () => {
      const erased = await deletion.sweep();
      if (erased > 0) log.info({ erased }, 'erased projects that were past restoring');
    };
    return {
      routes: [
        ...routesForProjects({
          projects,
          newProjects,
          listProjects: createListProjects(database, projects.present),
          deletion,
          limits,
        }),
        ...routesForRoles(roles),
        ...routesForConfig(projectFile, configShares),
        ...routesForArchives(archives),
        ...routesForPreviews({ previews, archives, projectFile, deletion, configShares }),
        ...routesForKeys(keys),
        ...routesForMembers(members, invitations),
        ...routesForOperatorTokens(operatorTokens),
        ...routesForParkedEvents(createParkedEvents(allServices)),
        ...routesForSealedSecrets(allServices),
        ...routesForBackups(backups),
        ...routesForOrigins(origins),
        ...routesForWebhooks(telling.webhooks, telling.log, telling.wake),
        ...routesForCredits(credits, usageReports, config.priceChanges),
        ...routesForPlatformUsage(callSums),
        ...routesForFindings(findings, owners),
        ...routesForRequests(callLog, projects),
        ...routesForAudit(audit),
        ...routesForSuspensions(createSuspensions({ database, outbox, now }), owners),
      ],
      internal: internalRouter(
        directory,
        keyDirectory,
        credits,
        budgetNotices,
        owners,
        callLog,
        operatorTokens,
        origins,
      ),
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
        { run: () => windowCounts.sweep() },
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
