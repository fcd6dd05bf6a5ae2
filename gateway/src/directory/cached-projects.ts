import { type Bus, listenTo } from '@backlot/bus';
import { events, type KeySnapshot, type ProjectDirectory } from '@backlot/contract';
import { type GatewayProject, toGatewayProject } from './gateway-project.ts';
import { createLookupCache, type LookupCache } from './lookup-cache.ts';

export interface CachedProjects {
  projects: LookupCache<GatewayProject>;
  /** By the key's SHA-256 in base64url. */
  keys: LookupCache<KeySnapshot>;
  forget(): void;
  /** Subscribes to the events that end what is remembered. */
  listen(bus: Bus): Promise<void>;
}

/** Events drop entries at once; the times only bound what a lost event can do. */
const present = { maxEntries: 50_000, ttlMs: 60_000, staleMs: 60_000 };
const absent = { maxAbsent: 20_000, absentTtlMs: 5000 };

export const createCachedProjects = (
  directory: ProjectDirectory,
  now: () => number,
  eventsConnected: () => boolean,
): CachedProjects => {
  const projects = createLookupCache<GatewayProject>({
    ...present,
    ...absent,
    now,
    eventsConnected,
    load: async (id) => {
      const snapshot = await directory.findProject(id);
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
    load: (hash) => directory.findKey(hash),
  });
  return {
    projects,
    keys,
    forget() {
      projects.clear();
      keys.clear();
    },
    listen: (bus) =>
      listenTo(bus, events, {
        'project.changed': ({ projectId }) => projects.drop(projectId),
        'project.erased': ({ projectId }) => projects.drop(projectId),
        'key.revoked': ({ keyHash }) => keys.drop(keyHash),
      }),
  };
};
