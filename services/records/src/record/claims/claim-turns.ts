import { createHash } from 'node:crypto';
import { ApiError } from '@backlot/contract';
import { batchCalls, type Database } from '@backlot/database';
import { LRUCache } from 'lru-cache';
import type { Collection } from '../../collections/collections.ts';
import { notUnique, type UniqueField } from '../../collections/stored/claims.ts';
import { ownerField } from '../../collections/stored/slots.ts';

/** A value of a unique field that a write claims, as far as it is known before. */
export interface Claim {
  field: UniqueField;
  /** JSON. */
  value: string;
}

/** What a write claims, for a record. */
interface Claimed {
  collection: Collection;
  id: string;
  claims: readonly Claim[];
  /** Throws where the write is to be refused for something else. */
  refuse?: () => Promise<void>;
}

export interface ClaimTurns {
  /**
   * Of several writes that claim one value, one is at work and the others wait for it without a connection. Where
   * somebody has claimed a value just now, a read looks first whether another record has it.
   * @throws ApiError not_unique
   */
  run<T>(claimed: Claimed, work: () => Promise<T>): Promise<T>;
  /** The same without the read: what the write frees itself may be claimed in it. */
  wait<T>(claimed: Pick<Claimed, 'collection' | 'claims'>, work: () => Promise<T>): Promise<T>;
}

const recentMs = 10_000;
const maxRecent = 10_000;
/** Longer values are named by their hash. */
const maxNameLength = 100;

/** The claims of a document. @param at what it has at a path; undefined where it is not known, or has nothing */
export const claimsOf = (
  fields: readonly UniqueField[],
  at: (path: readonly string[]) => unknown,
  ownerId?: string | null,
): Claim[] =>
  fields.flatMap((field) => {
    const value = field.field === ownerField ? ownerId : at(field.field.split('.'));
    return value === undefined || value === null ? [] : [{ field, value: JSON.stringify(value) }];
  });

const takenSql = `SELECT n FROM unnest($3::int[], $4::jsonb[], $5::uuid[]) WITH ORDINALITY asked(number, value, id, n)
  WHERE EXISTS (SELECT FROM unique_values held WHERE held.project_id = $1 AND held.coll_id = $2
      AND held.number = asked.number AND held.key = records.unique_key(asked.value) AND held.record_id <> asked.id)
    AND EXISTS (SELECT FROM unique_fields f WHERE f.project_id = $1 AND f.coll_id = $2
      AND f.number = asked.number AND f.state IN ('building', 'ready'))`;

export const createClaimTurns = (database: Database): ClaimTurns => {
  /** Writes at work, by the values that they claim. */
  const working = new Map<string, Promise<void>>();
  /** Values that somebody has claimed just now: another one may not be free. */
  const recent = new LRUCache<string, true>({ max: maxRecent, ttl: recentMs });

  const nameFor = ({ projectNumber, id }: Collection, { field, value }: Claim): string => {
    const short =
      value.length <= maxNameLength ? value : createHash('sha256').update(value).digest('base64');
    return `${projectNumber} ${id} ${field.number} ${short}`;
  };

  /** Which of several values other records have; of calls that come together, in one statement. */
  const isTaken = batchCalls(
    async (collection: Collection, asked: readonly (Claim & { id: string })[]) => {
      const { projectNumber, id } = collection;
      const rows = await database.read('records_taken_values', takenSql, [
        projectNumber,
        id,
        asked.map(({ field }) => field.number),
        asked.map(({ value }) => value),
        asked.map((one) => one.id),
      ]);
      const taken = new Set(rows.map(([n]) => Number(n) - 1));
      return asked.map((_, i) => taken.has(i));
    },
  );

  const checkFree = async ({ collection, id, claims, refuse }: Claimed): Promise<void> => {
    const taken = await Promise.all(claims.map((claim) => isTaken(collection, { ...claim, id })));
    const first = claims.find((_, i) => taken[i]);
    if (!first) return;
    recent.set(nameFor(collection, first), true);
    await refuse?.();
    throw notUnique(first.field.field);
  };

  const work = async <T>(names: readonly string[], write: () => Promise<T>): Promise<T> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    for (const name of names) working.set(name, promise);
    const remember = () => {
      for (const name of names) recent.set(name, true);
    };
    try {
      const written = await write();
      remember();
      return written;
    } catch (error) {
      // Not where it failed for another reason: what is tried again waits for the value itself.
      if (error instanceof ApiError && error.code === 'not_unique') remember();
      throw error;
    } finally {
      for (const name of names) working.delete(name);
      resolve();
    }
  };

  const inTurn = async <T>(
    names: readonly string[],
    check: (() => Promise<void>) | undefined,
    write: () => Promise<T>,
  ): Promise<T> => {
    // Who has a connection may not wait for somebody who may wait for one.
    if (names.length === 0 || database.isInTransaction()) return write();
    let isUnsure = names.some((name) => recent.has(name));
    for (;;) {
      const others = names.flatMap((name) => working.get(name) ?? []);
      await Promise.all(others);
      isUnsure ||= others.length > 0;
      if (check && isUnsure) await check();
      isUnsure = false;
      if (!names.some((name) => working.has(name))) return work(names, write);
    }
  };

  return {
    run: (claimed, write) =>
      inTurn(
        claimed.claims.map((claim) => nameFor(claimed.collection, claim)),
        () => checkFree(claimed),
        write,
      ),
    wait: ({ collection, claims }, write) =>
      inTurn([...new Set(claims.map((claim) => nameFor(collection, claim)))], undefined, write),
  };
};
