import { ApiError, isUuid, type UserDirectory } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { LRUCache } from 'lru-cache';
import { bypassesRules } from '../collections/access.ts';
import { idTimeMs } from '../timestamps.ts';

/** A record's id is the time of its creation: a client that makes one may be offline for a day. */
const oldestNewIdMs = 24 * 60 * 60_000;
const clockDifferenceMs = 60_000;
const maxRemembered = 10_000;

const isUuidV7 = (id: string) => isUuid(id) && /^7.{4}[89ab]/i.test(id.slice(14));

const refuse = (message: string) =>
  new ApiError('invalid_path', message, {
    hint: 'import { newId } from "@backlot/client" (or "<host>/sdk.js"): newId() makes one, crypto.randomUUID() does not. POST makes a record under an id of the server’s. Ids of another system go into a field, with "unique".',
  });

const newIdRule =
  'A new record takes a UUIDv7 as its id that is at most 24 hours old and at most a minute ahead, or the id of the user who calls.';

export interface NewIds {
  /**
   * Why a new record of this caller may not have the id; undefined where it may.
   * @throws ApiError unavailable
   */
  refusal(identity: Identity, id: string): Promise<ApiError | undefined>;
}

/**
 * Which ids a client may choose: UUIDv7s, because their order is that of creation. That of a user, whatever its age, is
 * for this user and for the project's own callers.
 */
export const createNewIds = (users: UserDirectory, now: () => number): NewIds => {
  /** Ids that are no user's: none becomes one later. */
  const free = new LRUCache<string, true>({ max: maxRemembered });

  const isUser = async (projectNumber: number, id: string): Promise<boolean> => {
    const key = `${projectNumber}/${id}`;
    if (free.has(key)) return false;
    const user = await users.findRoleAndGroups(projectNumber, id).catch((cause: unknown) => {
      const message = 'Accounts can not be asked right now. Try again shortly.';
      throw new ApiError('unavailable', message, { cause, retryAfterSeconds: 2 });
    });
    if (!user) free.set(key, true);
    return user !== null;
  };

  return {
    async refusal(identity, given) {
      const id = given.toLowerCase();
      if (!isUuidV7(id) || idTimeMs(id) > now() + clockDifferenceMs) return refuse(newIdRule);
      if (bypassesRules(identity)) return undefined;
      if (identity.caller === 'user' && identity.userId?.toLowerCase() === id) return undefined;
      if (idTimeMs(id) < now() - oldestNewIdMs) return refuse(newIdRule);
      return (await isUser(identity.project.number, id))
        ? new ApiError(
            'forbidden',
            'This is the id of a user, under which only they make a record.',
          )
        : undefined;
    },
  };
};
