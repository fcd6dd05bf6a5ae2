import { ApiError, type PeopleDirectory, type Person } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { LRUCache } from 'lru-cache';

/** What has changed is seen everywhere within five seconds. */
const knownMs = 3000;
const mostKnownBytes = 8 * 1024 * 1024;

/** Who is no user any more, is blocked, or may not be known of. */
const toNobody = (id: string): Person => ({ id, name: null, avatar: null, publicProfile: {} });

export interface People {
  /**
   * Each of these ids as the caller may see whose it is.
   * @param ids in lower case, at most 500
   * @throws ApiError unavailable
   */
  describe(identity: Identity, ids: readonly string[]): Promise<Map<string, Person>>;
}

/** Users in place of their ids. Where profiles are public they are the same for all, and remembered. */
export const createPeople = (directory: PeopleDirectory, now: () => number): People => {
  const known = new LRUCache<string, Person>({
    maxSize: mostKnownBytes,
    sizeCalculation: (person) => 200 + 2 * JSON.stringify(person).length,
    ttl: knownMs,
    ttlResolution: 0,
    perf: { now },
  });

  const ask = async (
    { project, caller, userId }: Identity,
    ids: readonly string[],
    hasPublicProfiles: boolean,
  ): Promise<Map<string, Person>> => {
    const asking = { projectNumber: project.number, caller, userId, ids, hasPublicProfiles };
    const found = await directory.findPeople(asking).catch((cause: unknown) => {
      const message = 'Accounts can not be asked right now. Try again shortly.';
      throw new ApiError('unavailable', message, { cause, retryAfterSeconds: 2 });
    });
    const byId = new Map(found.map((person) => [person.id, person]));
    return new Map(ids.map((id) => [id, byId.get(id) ?? toNobody(id)]));
  };

  return {
    async describe(identity, ids) {
      if (ids.length === 0) return new Map();
      const { number, settings } = identity.project;
      if (settings.publicProfiles === false) return ask(identity, ids, false);
      const people = new Map<string, Person>();
      for (const id of ids) {
        const person = known.get(`${number}/${id}`);
        if (person) people.set(id, person);
      }
      const unknown = ids.filter((id) => !people.has(id));
      if (unknown.length === 0) return people;
      for (const [id, person] of await ask(identity, unknown, true)) {
        known.set(`${number}/${id}`, person);
        people.set(id, person);
      }
      return people;
    },
  };
};
