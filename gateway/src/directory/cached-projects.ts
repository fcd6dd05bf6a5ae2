import { type Bus, listenTo } from '@backlot/bus';
import {
  ApiError,
  events,
  type HostDirectory,
  type KeySnapshot,
  type OperatorDirectory,
  type OperatorSnapshot,
  type ProjectDirectory,
} from '@backlot/contract';
import { type GatewayProject, toGatewayProject } from './gateway-project.ts';
import { createLookupCache, type LookupCache } from './lookup-cache.ts';

export interface CachedProjects {
  projects: LookupCache<GatewayProject>;
  /** By the key's SHA-256 in base64url. */
  keys: LookupCache<KeySnapshot>;
  /** By the token's SHA-256 in base64url. */
  operators: LookupCache<OperatorSnapshot>;
  /** By the owner's host name. */
  hosts: LookupCache<{ projectId: string }>;
  forget(): void;
  /** Subscribes to the events that end what is remembered. */
  listen(bus: Bus): Promise<void>;
}

export interface CachedDirectories {
  projects: ProjectDirectory;
  operators: OperatorDirectory;
  hosts: HostDirectory;
}

/** Events drop entries at once; the times only bound what a lost event can do. */
const present = { maxEntries: 50_000, ttlMs: 60_000, staleMs: 60_000 };
/** Few, and what they may do is much: a revoked one is noticed in this time whatever is lost. */
const operatorBounds = { maxEntries: 1000, ttlMs: 5000, staleMs: 0 };
/** Nothing tells when an origin's proof is lost: a look every five seconds costs little. */
const hostBounds = { maxEntries: 20_000, ttlMs: 5000, staleMs: 60_000 };
const absent = { maxAbsent: 20_000, absentTtlMs: 5000 };

export const createCachedProjects = (
  {
    projects: projectDirectory,
    operators: operatorDirectory,
    hosts: hostDirectory,
  }: CachedDirectories,
  now: () => number,
  eventsConnected: () => boolean,
): CachedProjects => {
  const projects = createLookupCache<GatewayProject>({
    ...present,
    ...absent,
    now,
    eventsConnected,
    load: async (id) => {
      const snapshot = await projectDirectory.findProject(id);
      return snapshot && toGatewayProject(snapshot);
    },
  });
  // A revoked key must not outlive its time because the directory is down.
  const keys = createLookupCache<KeySnapshot>({
    ...present,
    ...absent,
    staleMs: 0,
    now,
    eventsConnected,
    load: (hash) => projectDirectory.findKey(hash),
  });
  const operators = createLookupCache<OperatorSnapshot>({
    ...operatorBounds,
    ...absent,
    now,
    eventsConnected,
    expiresAt: ({ expiresAtMs }) => expiresAtMs,
    load: (hash) =>
      operatorDirectory.findOperator(hash).catch((cause: unknown) => {
        throw new ApiError(
          'unavailable',
          'Operators’ tokens can not be checked right now. BACKLOT_OPERATOR_TOKEN still opens.',
          { cause, retryAfterSeconds: 2 },
        );
      }),
  });
  const hosts = createLookupCache<{ projectId: string }>({
    ...hostBounds,
    ...absent,
    now,
    eventsConnected,
    load: (host) => hostDirectory.findHost(host),
  });
  return {
    projects,
    keys,
    operators,
    hosts,
    forget() {
      projects.clear();
      keys.clear();
      operators.clear();
      hosts.clear();
    },
    listen: (bus) =>
      listenTo(bus, events, {
        'project.changed': ({ projectId }) => projects.drop(projectId),
        'project.erased': ({ projectId }) => projects.drop(projectId),
        'key.revoked': ({ keyHash }) => keys.drop(keyHash),
        'operator-token.revoked': ({ tokenHash }) => operators.drop(tokenHash),
      }),
  };
};
