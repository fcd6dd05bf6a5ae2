import { ApiError, type UserDirectory } from '@backlot/contract';
import { LRUCache } from 'lru-cache';

/** So that nothing is written for a user who was erased some time ago: their records are looked for after two minutes. */
const knownMs = 10_000;
const maxKnown = 10_000;
const atOnce = 16;

export interface Owners {
  /** Those of these ids that are users of the project. @throws ApiError unavailable */
  find(projectNumber: number, ids: ReadonlySet<string>): Promise<ReadonlySet<string>>;
}

export const createOwners = (users: UserDirectory, now: () => number): Owners => {
  const known = new LRUCache<string, boolean>({
    max: maxKnown,
    ttl: knownMs,
    ttlResolution: 0,
    perf: { now },
  });

  const isUser = async (projectNumber: number, id: string): Promise<boolean> => {
    const key = `${projectNumber}/${id}`;
    const remembered = known.get(key);
    if (remembered !== undefined) return remembered;
    const user = await users.findRoleAndGroups(projectNumber, id).catch((cause: unknown) => {
      const message = 'Accounts can not be asked right now. Try again shortly.';
      throw new ApiError('unavailable', message, { cause, retryAfterSeconds: 2 });
    });
    known.set(key, user !== null);
    return user !== null;
  };

  return {
    async find(projectNumber, ids) {
      const found = new Set<string>();
      const left = [...ids];
      while (left.length > 0)
        await Promise.all(
          left.splice(0, atOnce).map(async (id) => {
            if (await isUser(projectNumber, id)) found.add(id);
          }),
        );
      return found;
    },
  };
};
