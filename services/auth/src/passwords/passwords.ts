import { setTimeout as pause } from 'node:timers/promises';
import { ApiError } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import { cpuWork, FairShareFull, toRequester } from '@backlot/fair-shares';
import type { RouteOptions } from '@backlot/http';
import argon2 from 'argon2';
import type { AuthConfig } from '../config.ts';
import type { DB as Tables } from '../tables.ts';

/** Argon2id in the PHC string format. */
export interface PasswordHasher {
  hash(password: string): Promise<string>;
  verify(hash: string, password: string): Promise<boolean>;
  isOutdated(hash: string): boolean;
}

export const createArgon2Hasher = ({
  memoryKib,
  passes,
  lanes,
}: AuthConfig['argon2']): PasswordHasher => {
  const cost = { memoryCost: memoryKib, timeCost: passes, parallelism: lanes };
  return {
    hash: (password) => argon2.hash(password, { ...cost, type: argon2.argon2id }),
    verify: (hash, password) => argon2.verify(hash, password),
    isOutdated: (hash) => argon2.needsRehash(hash, cost),
  };
};

/** NIST SP 800-63B-4, 3.1.1.2: one form whatever keyboard the password was typed on. */
const normalize = (password: string) => password.normalize('NFKC');

const overloaded = (full: FairShareFull) =>
  new ApiError('overloaded', 'Too many sign-ins are under way. Try again shortly.', {
    retryAfterSeconds: full.retryAfterSeconds,
    cause: full,
  });

/** Who asks for a hash; once the signal says that they have gone, they wait no longer. */
export type HashCaller = Parameters<typeof toRequester>[0] & { signal?: AbortSignal | undefined };

/** A client that calls again as soon as it was refused would keep the process busy with refusals alone. */
const refusedAfterMs = 250;

interface PasswordOptions {
  database: Database;
  hasher: PasswordHasher;
  config: Pick<AuthConfig, 'hashing'>;
  now: () => number;
}

/**
 * Hashes few passwords at a time, because each keeps one of the process's few worker threads busy for
 * long; owners, their projects and addresses take turns by what their hashes cost. At most half
 * of those who may wait belong to one project; past that the address with most of them gives way.
 */
export const createPasswords = ({ database, hasher, config, now }: PasswordOptions) => {
  const { concurrency, queueLength } = config.hashing;
  const shares = cpuWork({ places: concurrency, maxWaiting: queueLength, isShort: true });

  const enqueue = async <T>(caller: HashCaller, work: () => Promise<T>): Promise<T> => {
    try {
      return await shares.run(toRequester(caller), work, { signal: caller.signal });
    } catch (error) {
      if (error instanceof FairShareFull) throw overloaded(error);
      throw error;
    }
  };

  /** For a route that hashes a password: a call that would find the queue full is refused before it has cost a statement. */
  const hashingRoute: RouteOptions = {
    isSlow: true,
    inTurn: async ({ identity, signal }, work) => {
      try {
        shares.checkRoom(toRequester(identity));
      } catch (error) {
        if (!(error instanceof FairShareFull)) throw error;
        await pause(refusedAfterMs, undefined, { signal });
        throw overloaded(error);
      }
      await work();
    },
  };

  const hash = (caller: HashCaller, password: string) =>
    enqueue(caller, () => hasher.hash(normalize(password)));

  const queries = createQueries<Tables>(database);
  /** Unless the account has changed its password since it was read. */
  const update = (project: number, account: { id: string; password_version: number }) =>
    queries
      .updateTable('users')
      .where('project_number', '=', project)
      .where('id', '=', account.id)
      .where('password_version', '=', account.password_version);

  let dummy: Promise<string> | undefined;
  /** What an unknown account's password is compared with, so that it costs the same. */
  const dummyHash = () => {
    dummy ??= hasher.hash(crypto.randomUUID());
    return dummy;
  };

  return {
    prepare: dummyHash,
    hashingRoute,
    /** Of the queue of hashes. */
    usage: shares.usage,

    /** @throws ApiError overloaded */
    hash,

    /** Costs the same without a stored hash, then answers false. @throws ApiError overloaded */
    async verify(
      caller: HashCaller,
      stored: string | null | undefined,
      password: string,
    ): Promise<boolean> {
      const compared = stored ?? (await dummyHash());
      const isEqual = await enqueue(caller, () => hasher.verify(compared, normalize(password)));
      return isEqual && stored != null;
    },

    /** The same password under today's parameters, where it isn't; a full queue leaves it to the next sign-in. */
    async rehash(
      caller: HashCaller,
      stored: string | null,
      password: string,
    ): Promise<string | undefined> {
      if (stored === null || !hasher.isOutdated(stored)) return undefined;
      return hash(caller, password).catch((error: unknown) => {
        if (error instanceof ApiError && error.code === 'overloaded') return undefined;
        throw error;
      });
    },

    async storeRehash(
      project: number,
      account: { id: string; password_version: number },
      passwordHash: string,
    ): Promise<void> {
      await update(project, account).set({ password_hash: passwordHash }).execute();
    },

    /**
     * Stores another password for the account that was read.
     * @returns false when it is gone or has changed its password meanwhile
     */
    async change(
      project: number,
      account: { id: string; password_version: number },
      passwordHash: string,
    ): Promise<boolean> {
      const { numUpdatedRows } = await update(project, account)
        .set((user) => ({
          password_hash: passwordHash,
          password_version: user('password_version', '+', 1),
          updated_at: new Date(now()),
        }))
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
  };
};

export type Passwords = ReturnType<typeof createPasswords>;
