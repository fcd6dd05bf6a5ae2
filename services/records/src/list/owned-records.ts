import type { OwnedRecord } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { FairShares } from '@backlot/fair-shares';
import { decodeCursor, encodeCursor, type Page, type PageQuery } from '@backlot/http';
import { z } from 'zod';
import type { Reader } from '../reader.ts';
import { inCollection, recordJsonSql } from '../sql.ts';

/** One call looks for so long, and answers so many bytes of documents; the next one goes on behind them. */
const workMs = 2000;
const pageBytes = 1024 * 1024;
/** Records that one statement looks at. */
const pieceRows = 1000;
const firstId = '00000000-0000-0000-0000-000000000000';

/** The number of a collection, and a record in it, behind which the next page begins. */
const position = z.tuple([z.int(), z.uuid()]);

export interface OwnedRecords {
  /** Those of a user, by collection and id: there is no index, so that all of the project is looked at. @throws ApiError invalid_cursor, FairShareFull */
  list(
    projectNumber: number,
    userId: string,
    query: PageQuery,
    reader: Reader,
  ): Promise<Page<OwnedRecord>>;
}

interface Found {
  id: string;
  size_bytes: number;
  is_theirs: boolean | null;
}

/** As many as fit, and one at least. */
const takeUpTo = (found: readonly Found[], rows: number, bytes: number): Found[] => {
  let sum = 0;
  return found.filter(({ size_bytes }, n) => {
    sum += size_bytes;
    return n < rows && (n === 0 || sum <= bytes);
  });
};

export const createOwnedRecords = (database: Database, scans: FairShares): OwnedRecords => {
  const findCollection = async (projectNumber: number, id: number) => {
    const [collection] = await database.query<{ id: number; name: string }>(
      `SELECT coll_id AS id, name FROM collections
        WHERE project_id = $1 AND coll_id >= $2 AND deleted_at IS NULL ORDER BY coll_id LIMIT 1`,
      [projectNumber, id],
    );
    return collection;
  };

  const look = (key: readonly [number, number], after: string, userId: string) =>
    database.scan<Found>(
      `SELECT id, size_bytes, owner_id = $4 AS is_theirs FROM records
        WHERE ${inCollection} AND id > $3 ORDER BY id LIMIT ${pieceRows}`,
      [...key, after, userId],
    );

  const read = async (key: readonly [number, number], found: readonly Found[]) => {
    const rows = await database.query<{ json: string }>(
      `SELECT ${recordJsonSql()} AS json FROM records WHERE ${inCollection} AND id = ANY ($3::uuid[]) ORDER BY id`,
      [...key, found.map(({ id }) => id)],
    );
    return rows.map(({ json }) => JSON.parse(json) as OwnedRecord['record']);
  };

  return {
    async list(projectNumber, userId, { limit, cursor }, { requester, signal }) {
      const scope = { list: ['owned-records', userId] };
      const start = cursor === undefined ? undefined : decodeCursor(cursor, position, scope);
      let [collId, after] = start ?? [0, firstId];
      const items: OwnedRecord[] = [];
      let roomBytes = pageBytes;
      const untilMs = performance.now() + workMs;
      while (items.length < limit && roomBytes > 0 && performance.now() < untilMs) {
        const collection = await findCollection(projectNumber, collId);
        if (!collection) return { items, hasMore: false, nextCursor: null };
        if (collection.id !== collId) [collId, after] = [collection.id, firstId];
        const key = [projectNumber, collId] as const;
        const looked = await scans.run(requester, () => look(key, after, userId), { signal });
        const theirs = looked.filter(({ is_theirs }) => is_theirs);
        const taken = takeUpTo(theirs, limit - items.length, roomBytes);
        const { name } = collection;
        for (const record of await read(key, taken)) items.push({ collection: name, record });
        for (const { size_bytes } of taken) roomBytes -= size_bytes;
        if (taken.length < theirs.length) {
          after = taken.at(-1)?.id ?? after;
          break;
        }
        if (looked.length < pieceRows) [collId, after] = [collId + 1, firstId];
        else after = looked.at(-1)?.id ?? after;
      }
      return { items, hasMore: true, nextCursor: encodeCursor([collId, after], scope) };
    },
  };
};
