import { maxRecordBytes, type TrashedRecord } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { FairShares } from '@backlot/fair-shares';
import { decodeCursor, encodeCursor, type Page, type PageQuery } from '@backlot/http';
import { z } from 'zod';
import type { Reader } from '../reader.ts';
import { bringsBackSql } from '../record/change/log-sql.ts';
import { epochMsSql, recordJsonSql } from '../sql.ts';
import { idTimeMs, toIso } from '../timestamps.ts';

export interface Trash {
  /** Records that were deleted and are not there, newest first. @throws ApiError invalid_cursor; FairShareFull */
  list(
    projectNumber: number,
    query: PageQuery & { collection?: string | undefined },
    reader: Reader,
  ): Promise<Page<TrashedRecord>>;
}

interface Row {
  xid: string;
  seq: number;
  record_id: string;
  /** Null where it is no deletion that is in the trash. */
  collection: string | null;
  changed_ms: number;
  actor: string | null;
  request_id: string | null;
  size: number;
}

/** Entries that one call looks at, and bytes of the records that it answers. */
const lookedRows = 5000;
const pageBytes = 2 * maxRecordBytes;

const maxXid = '18446744073709551615';
const xid = z
  .string()
  .regex(/^\d{1,20}$/)
  .refine((text) => BigInt(text) <= BigInt(maxXid));
const position = z.tuple([xid, z.int(), z.uuid()]);
type Position = z.infer<typeof position>;
const newest: Position = [maxXid, 0, 'ffffffff-ffff-7fff-bfff-ffffffffffff'];

/** An entry before which the record has come back, or after which it was deleted again, is none. */
const lookSql = `SELECT page.xid::text, page.seq, page.record_id, ${epochMsSql('page.changed_at')} AS changed_ms, page.actor, page.request_id, page.old_size AS size,
    CASE WHEN page.kind = 'd' THEN (SELECT name FROM collections own WHERE own.project_id = $1 AND own.coll_id = page.coll_id AND own.deleted_at IS NULL
      AND page.changed_at >= own.created_at AND ($5::text IS NULL OR own.name = $5)
      AND NOT EXISTS (SELECT FROM records WHERE records.project_id = $1 AND records.coll_id = page.coll_id AND records.id = page.record_id)
      AND NOT EXISTS (SELECT FROM changes later WHERE later.project_id = $1 AND later.coll_id = page.coll_id AND later.record_id = page.record_id
        AND ${bringsBackSql('later')} AND later.seq > page.seq)) END AS collection
  FROM (SELECT changes.xid, changes.seq, changes.record_id, changes.coll_id, changes.kind, changes.changed_at, changes.actor, changes.request_id, changes.old_size
    FROM changes WHERE changes.project_id = $1 AND changes.xid <= $2::xid8 AND (changes.xid, changes.seq, changes.record_id) < ($2::xid8, $3::int8, $4::uuid)
    ORDER BY changes.xid DESC, changes.seq DESC, changes.record_id DESC LIMIT ${lookedRows}) page
  ORDER BY page.xid DESC, page.seq DESC, page.record_id DESC`;

const documentsSql = `SELECT record_id AS id, ${recordJsonSql('created')} AS json FROM (
    SELECT changes.record_id, changes.record_id AS id, old_owner AS owner_id, old_group AS group_id, old_updated_at AS updated_at, old_data AS data,
      made.created, NULL::timestamptz AS created_at
    FROM unnest($2::uuid[], $3::int8[], $4::text[]) made(row_id, seq, created)
      JOIN changes ON changes.project_id = $1 AND changes.record_id = made.row_id AND changes.seq = made.seq AND changes.kind = 'd'
      JOIN collections own ON own.project_id = $1 AND own.coll_id = changes.coll_id AND own.deleted_at IS NULL) records`;

export const createTrash = (database: Database, scans: FairShares): Trash => {
  const readDocuments = async (projectNumber: number, rows: readonly Row[]) => {
    const found = await database.query<{ id: string; json: string }>(documentsSql, [
      projectNumber,
      rows.map(({ record_id }) => record_id),
      rows.map(({ seq }) => seq),
      rows.map(({ record_id }) => toIso(idTimeMs(record_id))),
    ]);
    return new Map(found.map(({ id, json }) => [id, JSON.parse(json) as TrashedRecord['record']]));
  };

  return {
    async list(projectNumber, { limit, cursor, collection = null }, { requester, signal }) {
      const scope = { list: ['trash', projectNumber, collection] };
      const after = cursor === undefined ? newest : decodeCursor(cursor, position, scope);
      if (limit === 0) return { items: [], hasMore: false, nextCursor: null };
      const look = () => database.scan<Row>(lookSql, [projectNumber, ...after, collection]);
      const looked = await scans.run(requester, look, { signal });
      const taken: Row[] = [];
      let bytes = 0;
      let end: Row | undefined;
      let isCut = looked.length === lookedRows;
      for (const row of looked) {
        if (row.collection !== null) {
          bytes += row.size;
          isCut ||= taken.length === limit || (taken.length > 0 && bytes > pageBytes);
          if (taken.length === limit || (taken.length > 0 && bytes > pageBytes)) break;
          taken.push(row);
        }
        end = row;
      }
      const documents = await readDocuments(projectNumber, taken);
      const items = taken.flatMap(
        ({ record_id, seq, changed_ms, actor, request_id, collection }) => {
          const record = documents.get(record_id);
          if (!record || collection === null) return [];
          const made = { by: actor, requestId: request_id };
          return [{ collection, seq, deletedAt: toIso(changed_ms), ...made, record }];
        },
      );
      const nextCursor =
        isCut && end ? encodeCursor([end.xid, end.seq, end.record_id], scope) : null;
      return { items, hasMore: nextCursor !== null, nextCursor };
    },
  };
};
