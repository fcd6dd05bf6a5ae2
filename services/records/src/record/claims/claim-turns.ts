import { createHash } from 'node:crypto';
import { ApiError } from '@backlot/contract';
import { batchCalls, type Database } from '@backlot/database';
import { LRUCache } from 'lru-cache';
import type { Collection } from '../../collections/collections.ts';
import { notUnique } from '../../collections/stored/claims.ts';
import { ownerField } from '../../collections/stored/slots.ts';
import { groupField, type UniqueField } from '../../collections/stored/unique-keys.ts';

/** A value of a unique field, or of several together, that a write claims, as far as it is known before. */
export interface Claim {
  field: UniqueField;
  value: string;
}

interface Claimed {
  collection: Collection;
  id: string;
  claims: readonly Claim[];
  /** Throws where the write is to be refused for something else. */
  refuse?: () => Promise<void>;
}

export interface ClaimTurns {
  /**
   * Of several writes that claim one value one is at work, and the others wait for it without a connection. Of a value
   * claimed just now a read looks first whether another record has it. @throws ApiError not_unique
   */
  run<T>(claimed: Claimed, work: () => Promise<T>): Promise<T>;
  /** The same without the read: what the write frees itself may be claimed in it. */
  wait<T>(claimed: Pick<Claimed, 'collection' | 'claims'>, work: () => Promise<T>): Promise<T>;
}

const recentMs = 10_000;
const maxRecent = 10_000;
/** Longer values are named by their hash. */
const maxNameLength = 100;

/** What a write says of a record: of what it does not know, and of what is not there, undefined. */
interface Known {
  /** What its document has at a path. */
  at(path: readonly string[]): unknown;
  ownerId?: string | null;
  groupId?: string | null | undefined;
}

const valueIn = ({ at, ownerId, groupId }: Known, field: string): unknown => {
  if (field === ownerField) return ownerId;
  return (field === groupField ? groupId : undefined) ?? at(field.split('.'));
};

export const toClaims = (unique: readonly UniqueField[], known: Known): Claim[] =>
  unique.flatMap((field) => {
    const values = field.fields.map((name) => valueIn(known, name));
    const isMissing = values.some((value) => value === undefined || value === null);
    return isMissing ? [] : [{ field, value: JSON.stringify(values) }];
  });

const takenSql = `SELECT n FROM unnest($3::int[], $4::jsonb[], $5::uuid[]) WITH ORDINALITY asked(number, value, id, n)
  WHERE EXISTS (SELECT FROM unique_values held WHERE held.project_id = $1 AND held.coll_id = $2
      AND held.number = asked.number AND held.record_id <> asked.id AND held.key = records.together_key(ARRAY(
        SELECT records.unique_key(part) FROM jsonb_array_elements(asked.value) WITH ORDINALITY parts(part, place) ORDER BY place)))
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
    throw notUnique(first.field.fields);
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
