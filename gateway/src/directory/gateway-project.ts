import {
  defaultLimits,
  type LimitClass,
  limitClasses,
  type ProjectSettings,
  type ProjectSnapshot,
} from '@backlot/contract';
import type { RateCheck } from '@backlot/counters';
import type { IdentityProject } from '@backlot/identity';

/** Limits are calls a minute (docs/api.md, Limits and credits). */
export const windowMs = 60_000;

/** Of a project's limit; the rest is for known sessions, its owner and its keys (docs/decisions/0018). */
const shareOfUnknown = 0.8;

/** What admission needs for one class of calls in one project, computed once. */
export interface ClassAdmission {
  callerLimit: number;
  /** Key of a caller's counter without the caller. */
  callerKeyPrefix: string;
  projectCheck: RateCheck;
  /** Calls that those who are not known yet leave to those who are. */
  keptForKnown: number;
  /** `RateLimit-Policy` with both limits, and for callers whom only the project's limit holds. */
  policy: string;
  projectPolicy: string;
}

/** A project with all that each of its calls would otherwise compute again. */
export interface GatewayProject {
  id: string;
  number: number;
  ownerId: string | null;
  members: ProjectSnapshot['members'];
  status: ProjectSnapshot['status'];
  pausedBy: ProjectSnapshot['pausedBy'];
  /** What the operator has suspended; undefined where nothing is. */
  suspended: ProjectSnapshot['suspended'];
  /** Who may make calls that cost credits; all where nothing is said. */
  callers: ProjectSettings['callers'];
  /** Users do nothing but with their account until their address is verified. */
  mustVerify: boolean;
  /** Roles whose users do nothing with one factor but set up the second. */
  mustUse2fa: ReadonlySet<string>;
  /** An origin of the app itself, if one is known; one that is proven to be the owner's before others. */
  home: string | undefined;
  identity: IdentityProject;
  preview: ProjectSnapshot['preview'];
  admission: Record<LimitClass, ClassAdmission>;
}

const classAdmission = (project: ProjectSnapshot, limitClass: LimitClass): ClassAdmission => {
  // A projects service of before knows fewer classes.
  const { perCaller, perProject } = project.limits[limitClass] ?? defaultLimits[limitClass];
  // One hash tag keeps all counters of a call, the owner's credits too, on one node of a Redis Cluster.
  const tag = project.ownerId === null ? `p:${project.number}` : `o:${project.ownerId}`;
  const prefix = `rl:{${tag}}:${project.number}:${limitClass}`;
  const projectPolicy = `"project";q=${perProject};w=${windowMs / 1000}`;
  return {
    callerLimit: perCaller,
    callerKeyPrefix: `${prefix}:`,
    projectCheck: { key: `${prefix}:p`, limit: perProject, windowMs },
    keptForKnown: perProject - Math.ceil(perProject * shareOfUnknown),
    policy: `"caller";q=${perCaller};w=${windowMs / 1000}, ${projectPolicy}`,
    projectPolicy,
  };
};

/** Settings that hold lists of some KB at most. */
const smallSettings: ReadonlySet<string> = new Set(['signUp', 'storage', 'channels', 'mustUse2fa']);

/**
 * Without other settings that are lists or hold some: the identity is a header, and a thousand addresses would not fit
 * into its 32 KB.
 */
const scalarSettings = ({ settings, hasFreeMail }: ProjectSnapshot) => {
  const effective = hasFreeMail ? { mailContent: 'anything', ...settings } : settings;
  return Object.fromEntries(
    Object.entries(effective).filter(
      ([name, value]) => typeof value !== 'object' || smallSettings.has(name),
    ),
  );
};

const findHome = ({ settings, verifiedOrigins = [] }: ProjectSnapshot): string | undefined => {
  const { accountPageUrl, allowedOrigins = [] } = settings;
  const ofPage = accountPageUrl === undefined ? [] : [new URL(accountPageUrl).origin];
  const isVerified = (origin: string) => verifiedOrigins.includes(origin);
  return [...ofPage.filter(isVerified), ...verifiedOrigins, ...allowedOrigins, ...ofPage][0];
};

export const toGatewayProject = (project: ProjectSnapshot): GatewayProject => ({
  id: project.id,
  number: project.number,
  ownerId: project.ownerId,
  members: project.members,
  status: project.status,
  pausedBy: project.pausedBy,
  suspended: project.suspended,
  callers: project.settings.callers,
  mustVerify: project.settings.mustVerify === true,
  mustUse2fa: new Set(project.settings.mustUse2fa),
  home: findHome(project),
  preview: project.preview,
  identity: {
    id: project.id,
    number: project.number,
    name: project.name,
    ownerId: project.ownerId,
    settings: scalarSettings(project),
    ...(project.powers && { powers: project.powers }),
    ...(project.preview && { isPreview: true as const }),
  },
  admission: Object.fromEntries(
    limitClasses.map((limitClass) => [limitClass, classAdmission(project, limitClass)]),
  ) as Record<LimitClass, ClassAdmission>,
});
