import type { Bus } from '@backlot/bus';
import type { KeySnapshot, Payload, ProjectDirectory } from '@backlot/contract';
import { type KnownProject, knownProject } from './known-project.ts';
import { createLookupCache, type LookupCache } from './lookup-cache.ts';

export interface CachedProjects {
  projects: LookupCache<KnownProject>;
  /** By the key's SHA-256 in base64url. */
  keys: LookupCache<KeySnapshot>;
  forget(): void;
  /** Hears the events that end what is remembered. */
  listen(bus: Bus): Promise<void>;
}

/** Events drop entries at once; the times only bound what a lost event can do. */
const known = { maxEntries: 50_000, ttlMs: 60_000, staleMs: 60_000 };
const unknown = { maxUnknown: 20_000, unknownTtlMs: 5000 };

export const createCachedProjects = (
  directory: ProjectDirectory,
  now: () => number,
  hears: () => boolean,
): CachedProjects => {
  const projects = createLookupCache<KnownProject>({
    ...known,
    ...unknown,
    now,
    hears,
    load: async (id) => {
      const snapshot = await directory.findProject(id);
      return snapshot && knownProject(snapshot);
    },
  });
  // A revoked key must not outlive its time because the directory is down.
  const keys = createLookupCache<KeySnapshot>({
    ...known,
    ...unknown,
    staleMs: 0,
    now,
    hears,
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
      bus.listen(['project.changed', 'project.erased', 'key.revoked'], ({ topic, payload }) => {
        if (topic === 'key.revoked') keys.drop((payload as Payload<'key.revoked'>).keyHash);
        else projects.drop((payload as Payload<'project.changed'>).projectId);
      }),
  };
};
