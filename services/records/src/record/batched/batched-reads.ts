import { batchCalls, type Database, mostBatched, type TextRow } from '@backlot/database';
import type { Statement } from '../../query/prepared/kept-statements.ts';

/** A read by id. */
export interface BatchedRead {
  id: string;
  /** Its values are project, collection, id, and those of the caller. */
  alone: Statement;
  /** The same of several: the id is one of `mostBatched` values, and a column behind those of `alone`. */
  among(ids: readonly (string | null)[]): Statement;
}

/** Reads that go together differ in the id alone. */
const findKey = ({ alone: { name, text, values } }: BatchedRead): string => {
  const [projectNumber, collectionNumber, , ...ofCaller] = values;
  return `${name || text} ${projectNumber} ${collectionNumber} ${JSON.stringify(ofCaller)}`;
};

/**
 * Has one statement read records of a collection that calls of one kind of caller ask for at once: PostgreSQL works
 * half as long for a call (docs/decisions/0002).
 */
export const batchReads = (
  database: Database,
): ((read: BatchedRead) => Promise<TextRow | undefined>) => {
  const send = ({ name, text, values }: Statement) => database.read(name, text, values);

  const readAll = async (
    _key: string,
    reads: readonly BatchedRead[],
  ): Promise<readonly (TextRow | undefined)[]> => {
    const [first] = reads;
    if (!first || reads.length === 1)
      return Promise.all(reads.map(async ({ alone }) => (await send(alone))[0]));
    const ids: (string | null)[] = reads.map(({ id }) => id);
    // Always as many, so that PostgreSQL knows how many rows to expect and keeps one plan.
    while (ids.length < mostBatched) ids.push(null);
    const rows = await send(first.among(ids));
    const byId = new Map(rows.map((row) => [row.at(-1), row]));
    return reads.map(({ id }) => byId.get(id.toLowerCase()));
  };
  const batched = batchCalls(readAll);

  return async (read) =>
    database.isInTransaction() ? (await send(read.alone))[0] : batched(findKey(read), read);
};
