import {
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
  status: ProjectSnapshot['status'];
  pausedBy: ProjectSnapshot['pausedBy'];
  /** Who may make calls that cost credits; all where nothing is said. */
  callers: ProjectSettings['callers'];
  identity: IdentityProject;
  admission: Record<LimitClass, ClassAdmission>;
}

const classAdmission = (project: ProjectSnapshot, limitClass: LimitClass): ClassAdmission => {
  const { perCaller, perProject } = project.limits[limitClass];
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

/**
 * Without settings that are lists or hold some: the identity is a header, and a thousand addresses would not fit into
 * its 32 KB.
 */
const scalarSettings = (project: ProjectSnapshot) =>
  Object.fromEntries(
    Object.entries(project.settings).filter(([, value]) => typeof value !== 'object'),
  );

export const toGatewayProject = (project: ProjectSnapshot): GatewayProject => ({
  id: project.id,
  number: project.number,
  ownerId: project.ownerId,
  status: project.status,
  pausedBy: project.pausedBy,
  callers: project.settings.callers,
  identity: {
    id: project.id,
    number: project.number,
    name: project.name,
    ownerId: project.ownerId,
    settings: scalarSettings(project),
  },
  admission: Object.fromEntries(
    limitClasses.map((limitClass) => [limitClass, classAdmission(project, limitClass)]),
  ) as Record<LimitClass, ClassAdmission>,
});
