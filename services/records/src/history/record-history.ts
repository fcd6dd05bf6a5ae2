import { type HistoryEntry, maxRecordBytes } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { FairShares } from '@backlot/fair-shares';
import { decodeCursor, encodeCursor, type Page, type PageQuery } from '@backlot/http';
import { z } from 'zod';
import type { Access } from '../collections/access.ts';
import { limitedFieldsSql } from '../collections/field-rules.ts';
import { rowPolicySql } from '../collections/terms/policy-sql.ts';
import type { Reader } from '../reader.ts';
import type { RecordTarget } from '../record/refusals.ts';
import { epochMsSql, recordJsonSql } from '../sql.ts';
import { idTimeMs, toIso } from '../timestamps.ts';
import { type CreateEntry, findCreates } from './find-creates.ts';
import { formerSharesSql, pastRecordsSql, startRecord } from './past-records.ts';
import { readStanding, type Standing } from './standing.ts';

export interface RecordHistory {
  /**
   * What has become of a record, newest first. Who reads it sees what they could of the record as it is now, and of what
   * it was no more than if it were that now. @throws ApiError not_found, invalid_cursor; FairShareFull
   */
  list(target: RecordTarget, query: PageQuery, reader: Reader): Promise<Page<HistoryEntry>>;
}

interface Row {
  seq: number;
  kind: 'u' | 'd';
  changed_ms: number;
  actor: string | null;
  request_id: string | null;
  version: number;
  /** Null where the caller may not see it. */
  json: string | null;
  /** How many there are, at most as many as were asked for. */
  found: number;
}

/** What there was after a change; null: nothing. */
interface State {
  version: number;
  json: string | null;
}

/** Of the documents of a page: two at least. */
const pageBytes = 2 * maxRecordBytes;
const position = z.int().min(0);
type Shown = HistoryEntry['before'];

const show = (json: string | null): Shown => (json === null ? null : (JSON.parse(json) as Shown));

/** Rules bind neither the owner nor keys; a user knows what they have done themself. */
const madeBy = ({ asker, userId }: Access, { actor, request_id }: CreateEntry) =>
  !asker || (userId !== null && actor === `user:${userId}`)
    ? { by: actor, requestId: request_id }
    : {};

const created = (
  access: Access,
  { version, json }: State,
  entry: CreateEntry | undefined,
): HistoryEntry => ({
  seq: entry?.seq ?? null,
  type: 'create',
  changedAt: toIso(version),
  ...(entry && madeBy(access, entry)),
  before: null,
  after: show(json),
});

const changed = (access: Access, row: Row, after: State | null): HistoryEntry => ({
  seq: row.seq,
  type: row.kind === 'd' ? 'delete' : 'update',
  changedAt: toIso(row.changed_ms),
  ...madeBy(access, row),
  before: show(row.json),
  after: row.kind === 'd' ? null : show(after?.json ?? null),
});

export const createRecordHistory = (database: Database, scans: FairShares): RecordHistory => {
  const readRows = async (
    target: RecordTarget,
    { last, hidden }: Standing,
    before: number | undefined,
    limit: number,
  ): Promise<Row[]> => {
    const { access } = target;
    const { rights, fields } = access;
    const parameters = startRecord(target);
    const shares = formerSharesSql(last?.sharedWith, parameters);
    const behind = before === undefined ? 'true' : `seq <= ${parameters.add(before, 'int8')}`;
    const rows = `ORDER BY seq DESC LIMIT ${parameters.add(limit, 'int4')}`;
    const past = pastRecordsSql(target, parameters, behind, rows);
    const readable = rowPolicySql(rights.read, access, parameters) ?? 'true';
    const unseen = `${limitedFieldsSql(access, fields.hidden, parameters)} || ${parameters.add(hidden, 'text[]')}`;
    const json = recordJsonSql(undefined, `(data - (${unseen}))`);
    return database.scan<Row>(
      `${shares}SELECT seq, kind, changed_ms, actor, request_id, ${epochMsSql('updated_at')} AS version,
         CASE WHEN (${readable}) IS TRUE THEN ${json} END AS json, found
       FROM (SELECT *, count(*) OVER ()::int AS found, sum(size_bytes) OVER (ORDER BY seq DESC) - size_bytes AS bytes FROM ${past}) records
       WHERE bytes < ${pageBytes} ORDER BY seq DESC`,
      parameters.values,
    );
  };

  return {
    async list(target, { limit, cursor }, { requester, signal }) {
      const scope = { list: ['history', target.collection.name, target.id.toLowerCase()] };
      const before = cursor === undefined ? undefined : decodeCursor(cursor, position, scope);
      const standing = await readStanding(database, target);
      if (limit === 0) return { items: [], hasMore: false, nextCursor: null };
      const { isThere, version, json } = standing;
      // The entry with which the page before ended tells what there was after the next one.
      const asked = limit + (before === undefined ? 0 : 1);
      const read = () => readRows(target, standing, before, asked + 1);
      const rows = await scans.run(requester, read, { signal });
      const hasMore = (rows[0]?.found ?? 0) > Math.min(rows.length, asked);
      const end = before === undefined ? undefined : rows.shift();
      const shown = rows.slice(0, limit);
      let after: State | null = isThere ? { version, json } : null;
      if (before !== undefined) after = end ?? null;
      const steps: { row?: Row; after: State | null }[] = [];
      for (const row of shown) {
        if (row.kind === 'd' && after !== null) steps.push({ after });
        steps.push({ row, after });
        after = row;
      }
      if (!hasMore && after?.version === idTimeMs(target.id)) steps.push({ after });
      const made = steps.flatMap((step) => (step.row ? [] : (step.after?.version ?? [])));
      const find = () => findCreates(database, target, made);
      const creates = await scans.run(requester, find, { signal });
      const { access } = target;
      const items = steps.flatMap((step) => {
        if (step.row) return [changed(access, step.row, step.after)];
        return step.after ? [created(access, step.after, creates.get(step.after.version))] : [];
      });
      const last = shown.at(-1)?.seq ?? before;
      const nextCursor = hasMore && last !== undefined ? encodeCursor(last, scope) : null;
      return { items, hasMore, nextCursor };
    },
  };
};
