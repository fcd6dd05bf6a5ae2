import type { EventPayloads } from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import type { LogPosition } from '../change-log/position.ts';
import { type LogEntry, type LoggedRecord, readLog } from '../change-log/read-log.ts';
import { createRunBatch, withRest } from '../indexes/building/batches.ts';
import type { WorkInTurns } from '../indexes/building/glance.ts';
import { createTurns, type Turn } from '../indexes/building/turns.ts';
import { bringsBackSql } from '../record/change/log-sql.ts';
import { epochMsSql } from '../sql.ts';
import type { Json } from '../where/filter.ts';
import { parseFilter } from '../where/parse.ts';
import { recordEvent, type Want, wantsFor } from './record-events.ts';
import type { Wants } from './wants.ts';

/** Entries of one project in a turn. */
const entriesAtOnce = 200;
export const forwardEveryMs = 500;

/** Projects of whose log something is to be read, or soon will be. */
const nextSql = `SELECT project_id FROM told_projects AS told WHERE is_told AND EXISTS (
    SELECT FROM changes WHERE changes.project_id = told.project_id AND changes.xid >= told.xid
       AND (changes.xid, changes.seq, changes.record_id) > (told.xid, told.seq, told.record_id))`;

interface ToldRow {
  wants: Wants;
  xid: string;
  seq: number;
  record_id: string;
  number: number;
}

interface BeforeRow {
  at: number;
  owner_id: string | null;
  group_id: string | null;
  updated_ms: number;
  /** Null where those before it are as much as one turn takes. */
  data: string | null;
}

/** An entry, and the record after its change, or before it where that was a deletion. */
interface Happened {
  entry: LogEntry;
  /** Undefined where nobody wants it. */
  collection: string | undefined;
  record: LoggedRecord | null;
}

/** Of records that one turn reads besides those of the page. */
const turnBytes = 8 * 1024 * 1024;

/** What a record was before the first change behind each of these: after that one. Creates bring nothing back. */
const nextBeforeSql = `SELECT at, owner_id, group_id, updated_ms, CASE WHEN bytes_before < ${turnBytes} THEN old_data::text END AS data
  FROM (SELECT entry.at::int AS at, old_owner AS owner_id, old_group AS group_id, ${epochMsSql('old_updated_at')} AS updated_ms, old_data,
      sum(old_size) OVER (ORDER BY entry.at) - old_size AS bytes_before
    FROM unnest($2::int[], $3::int4[], $4::uuid[], $5::int8[]) AS entry (at, coll_id, record_id, seq)
    CROSS JOIN LATERAL (
      SELECT old_owner, old_group, old_updated_at, old_data, old_size FROM changes
       WHERE changes.project_id = $1 AND changes.coll_id = entry.coll_id AND changes.record_id = entry.record_id
         AND ${bringsBackSql('changes')} AND changes.seq > entry.seq
       ORDER BY changes.seq LIMIT 1) AS next) AS found`;

/** Tells what happened to records, by reading the log: who wants nothing costs nothing. */
export const createForwarder = (database: Database, outbox: Outbox<EventPayloads>): WorkInTurns => {
  const takeTurns = createTurns<{ project_id: number }>({ database, nextSql });
  const runBatch = createRunBatch(database, 'app events');

  const findNames = async (projectNumber: number) => {
    const rows = await database.query<{ coll_id: number; name: string; created_ms: number }>(
      `SELECT coll_id, name, ${epochMsSql('created_at')} AS created_ms FROM collections
        WHERE project_id = $1 AND deleted_at IS NULL`,
      [projectNumber],
    );
    const byId = new Map(rows.map((row) => [row.coll_id, row]));
    // Numbers of erased collections are used again.
    return ({ collectionId, changedAt }: LogEntry) => {
      const found = byId.get(collectionId);
      return found && changedAt >= found.created_ms ? found.name : undefined;
    };
  };

  /** Of the first entries, as many as one turn takes. */
  const findRecords = async (
    projectNumber: number,
    entries: readonly LogEntry[],
    wanted: readonly Want[],
  ): Promise<Happened[]> => {
    const nameFor = await findNames(projectNumber);
    const named = entries.map((entry, at) => {
      const name = nameFor(entry);
      const isWanted = name !== undefined && wantsFor(entry, name, wanted).length > 0;
      return { entry, at, collection: isWanted ? name : undefined };
    });
    const changed = named.filter(
      ({ entry, collection }) => collection !== undefined && entry.kind !== 'delete',
    );
    const rows = await database.query<BeforeRow>(nextBeforeSql, [
      projectNumber,
      changed.map(({ at }) => at),
      changed.map(({ entry }) => entry.collectionId),
      changed.map(({ entry }) => entry.recordId),
      changed.map(({ entry }) => entry.position.seq),
    ]);
    const later = new Map(rows.map((row) => [row.at, row]));
    const cuts = rows.flatMap((row) => (row.data === null ? row.at : []));
    return named.slice(0, Math.min(entries.length, ...cuts)).map(({ entry, at, collection }) => {
      if (entry.kind === 'delete') return { entry, collection, record: entry.before };
      const row = later.get(at);
      if (!row?.data) return { entry, collection, record: entry.now };
      const { owner_id: ownerId, group_id: groupId, updated_ms: updatedAt, data } = row;
      return { entry, collection, record: { ownerId, groupId, updatedAt, data } };
    });
  };

  const toWants = (wants: Wants): Want[] =>
    wants.map(({ where, since, ...want }) => ({
      ...want,
      filter: where === null ? null : parseFilter(where as Json),
      sinceMs: Date.parse(since),
    }));

  const tell = async (
    projectNumber: number,
    number: number,
    happened: readonly Happened[],
    wanted: readonly Want[],
  ) => {
    // Those of one record in the order of its versions, which transactions need not have.
    const inOrder = happened.toSorted((a, b) => a.entry.changedAt - b.entry.changedAt);
    const events = inOrder.flatMap(({ entry, collection, record }) =>
      collection === undefined
        ? []
        : (recordEvent(projectNumber, entry, { collection, record }, wanted) ?? []),
    );
    const numbered = events.map((event, at) => ({ ...event, number: number + at + 1 }));
    if (numbered.length === 0) return 0;
    await database.query(
      `INSERT INTO outbox (topic, payload) SELECT 'app.event', payload FROM unnest($1::jsonb[]) AS payload`,
      [numbered.map((event) => JSON.stringify(event))],
    );
    outbox.wake();
    return numbered.length;
  };

  const advance = (projectNumber: number, { xid, seq, recordId }: LogPosition, told: number) =>
    database.query(
      `UPDATE told_projects SET xid = $2::xid8, seq = $3, record_id = $4, number = number + $5
        WHERE project_id = $1`,
      [projectNumber, xid, seq, recordId, told],
    );

  const forwardNext = async (projectNumber: number): Promise<Turn> => {
    const [row] = await database.query<ToldRow>(
      `SELECT wants, xid::text, seq, record_id, number FROM told_projects
        WHERE project_id = $1 AND is_told FOR UPDATE`,
      [projectNumber],
    );
    if (!row) return 'nothing';
    const after = { xid: row.xid, seq: row.seq, recordId: row.record_id };
    const { entries, end } = await readLog(database, {
      projectNumber,
      after,
      limit: entriesAtOnce,
    });
    if (entries.length === 0) return 'nothing';
    const wanted = toWants(row.wants);
    const happened = await findRecords(projectNumber, entries, wanted);
    const isCut = happened.length < entries.length;
    const next = (isCut && happened.at(-1)?.entry.position) || end;
    await advance(projectNumber, next, await tell(projectNumber, row.number, happened, wanted));
    return 'worked';
  };

  return {
    nextSql,
    run: () =>
      takeTurns(({ project_id: project }) => withRest(() => runBatch(() => forwardNext(project)))),
  };
};
