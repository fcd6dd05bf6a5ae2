import type { AccountDirectory, ConfigDirectory, FilterDirectory } from '@backlot/contract';
import { outsideCalls } from '@backlot/fair-shares';
import type { Finding } from '@backlot/http';
import { hostName, isLoopbackHost, type Names, systemNames } from '@backlot/outgoing';
import { createSealer } from '@backlot/sealing';
import { createWindowCounts, type ServiceContext } from '@backlot/service';
import { type ArchiveDirectories, createArchives } from './archive/archives.ts';
import { createAudit } from './audit/audit.ts';
import { createCallLog } from './call-log/call-log.ts';
import { createCallSums } from './call-sums/call-sums.ts';
import type { ProjectsConfig } from './config.ts';
import { createFindings } from './findings/findings.ts';
import type { LedgerCounters } from './ledger/balance-notifier.ts';
import { createBudgetNotices } from './ledger/budget-notices.ts';
import { createCredits } from './ledger/credits.ts';
import { createUsageReports } from './ledger/usage-report.ts';
import { createInvitations } from './members/invitations.ts';
import { createMembers } from './members/members.ts';
import { createAllServices, type OtherOperations } from './operators/all-services.ts';
import { createBackups } from './operators/backups.ts';
import { createOperatorTokens } from './operators/operator-tokens.ts';
import { createParkedEvents } from './operators/parked-events.ts';
import { createCheckBounds } from './origins/check-bounds.ts';
import { createOrigins } from './origins/origins.ts';
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
import { createProjects } from './projects/projects.ts';
import { createRoles } from './projects/roles.ts';
import { createSuspensions } from './suspensions/suspensions.ts';
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

/** Files with all that an owner sets that are read or applied at once; each holds a connection of another service. */
const configPlaces = { places: 3, maxWaiting: 100 };

export type Features = ReturnType<typeof createFeatures>;

/** What the control plane can do: for its routes, for the gateway, and by itself. */
export const createFeatures = (context: ProjectsContext) => {
  const { database, outbox, now, log, config } = context;
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
  return {
    allServices,
    archives,
    audit,
    backups,
    budgetNotices,
    callLog,
    callSums,
    checkBounds,
    configShares,
    credits,
    deletion,
    directory,
    findings,
    invitations,
    keyDirectory,
    keys,
    limits,
    listProjects: createListProjects(database, projects.present),
    members,
    newProjects,
    operatorTokens,
    origins,
    owners,
    parkedEvents: createParkedEvents(allServices),
    previews,
    priceChanges: config.priceChanges,
    projectFile,
    projects,
    roles,
    sealer,
    suspensions: createSuspensions({ database, outbox, now }),
    telling,
    usageReports,
    windowCounts,
  };
};
