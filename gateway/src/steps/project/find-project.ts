import {
  ApiError,
  defaultLimits,
  platformProject,
  type RouteDefinition,
  suspendedError,
} from '@backlot/contract';
import { refuseRole } from '@backlot/http';
import type { FailedLookups } from '../../addresses/failed-lookups.ts';
import type { Caller } from '../../directory/caller.ts';
import { type GatewayProject, toGatewayProject } from '../../directory/gateway-project.ts';
import type { LookupCache } from '../../directory/lookup-cache.ts';
import { enterProject, invalidToken } from '../caller/authenticate.ts';
import { refuseSuspended } from '../caller/refuse-suspended.ts';

/** Anything else names no project and is not looked up. */
const possibleId = /^[A-Za-z0-9_-]{1,64}$/;

const projectNotFound = () =>
  new ApiError('project_not_found', 'There is no such project.', {
    hint: "A base address is <host>/api/runtime/<project id>; GET /api/platform/projects lists an owner's projects.",
  });
const projectDeleted = () => new ApiError('project_deleted', 'This project was deleted.');

export interface FindProject {
  /**
   * The project, without a promise when it is cached; null when there is none.
   * @param address whose look-up it is, where nobody has been counted for it
   * @throws ApiError rate_limited, unavailable
   */
  byId(id: string, address?: string): GatewayProject | null | Promise<GatewayProject | null>;
  /**
   * The project that the control plane counts in.
   * @param mayDoWithout where the directory is down: whether this call goes on without its limits and settings
   */
  platform(mayDoWithout?: () => boolean): GatewayProject | Promise<GatewayProject>;
  /** Owners answer to the rules of the built-in project whose users they are. */
  rulesFor(caller: Caller, project: GatewayProject): GatewayProject | Promise<GatewayProject>;
}

const unconfiguredPlatform = toGatewayProject({
  ...platformProject,
  name: 'Backlot',
  ownerId: null,
  status: 'active',
  settings: {},
  limits: defaultLimits,
});

export const createFindProject = (
  projects: LookupCache<GatewayProject>,
  failedLookups: FailedLookups,
): FindProject => {
  const byId = (id: string, address?: string) => {
    const cached = projects.peek(id);
    if (cached !== undefined) return cached;
    if (!possibleId.test(id)) return null;
    return address === undefined
      ? projects.load(id)
      : failedLookups.run(address, () => projects.load(id));
  };
  const mustExist = (platform: GatewayProject | null): GatewayProject => {
    if (!platform)
      throw new ApiError('unavailable', 'The platform is being set up.', { retryAfterSeconds: 2 });
    return platform;
  };
  const doWithout = (mayDoWithout: () => boolean) => (error: unknown) => {
    if (!mayDoWithout()) throw error;
    return unconfiguredPlatform;
  };
  const findPlatform = (mayDoWithout = () => false) => {
    const platform = byId(platformProject.id);
    return platform instanceof Promise
      ? platform.then(mustExist).catch(doWithout(mayDoWithout))
      : mustExist(platform);
  };
  return {
    byId,
    platform: findPlatform,
    rulesFor: ({ kind }, project) => (kind === 'owner' ? findPlatform() : project),
  };
};

const pausedMessages = {
  owner: 'The owner has paused this project and can resume it.',
  operator: 'The operator has paused this project; only the operator can resume it.',
};

/** @throws ApiError project_not_found, project_deleted, project_paused, suspended */
export const checkActive = (project: GatewayProject | null): GatewayProject => {
  if (!project) throw projectNotFound();
  if (project.status === 'deleted') throw projectDeleted();
  if (project.suspended?.includes('all')) throw suspendedError('all');
  if (project.status === 'paused')
    throw new ApiError('project_paused', pausedMessages[project.pausedBy ?? 'owner']);
  return project;
};

/** The one call that a deleted project still takes. */
const servesDeleted = 'restoreProject';

/**
 * The project that a call of the control plane is about, and what this caller is in it. Another owner's
 * project looks like none; a key of another project is no good, as everywhere.
 * @throws ApiError invalid_token, project_not_found, project_deleted, forbidden, suspended
 */
export const checkTarget = (
  target: GatewayProject | null,
  caller: Caller,
  definition: RouteDefinition,
): { project: GatewayProject; caller: Caller } => {
  if (caller.key && caller.key.projectNumber !== target?.number) throw invalidToken(definition);
  if (!target) throw projectNotFound();
  const isOwner = caller.kind !== 'operator' && caller.kind !== 'key';
  const entering = isOwner ? enterProject(caller, target) : caller;
  if (!entering) throw projectNotFound();
  if (target.status === 'deleted' && definition.operationId !== servesDeleted)
    throw projectDeleted();
  const refusal =
    refuseRole(definition, entering.kind, entering.memberRole) ??
    refuseSuspended(target, entering, definition);
  if (refusal) throw refusal;
  return { project: target, caller: entering };
};
