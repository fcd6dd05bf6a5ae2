import { ApiError, type EventPayloads, recordRoutes } from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import { readAcrossProjects } from '../across-projects.ts';
import type { NotIndexed } from '../collections/stored/missing-indexes.ts';
import { recordKeySql, type SlotState, slotCount } from '../collections/stored/slots.ts';
import { pathProblem, severalNamed } from '../fields.ts';
import { inCollection, startParameters } from '../sql.ts';

interface CollectionKey {
  projectNumber: number;
  id: number;
  name: string;
}

interface SlotRow {
  slot: number;
  field: string;
  state: SlotState;
  is_pinned: boolean;
  idle_days: number;
}

/** The primary key answers the first two; the last one changes with every write. */
const withoutSlot: ReadonlySet<string> = new Set(['id', 'createdAt', 'updatedAt']);

export const canHaveSlot = (field: string): boolean =>
  !withoutSlot.has(field) &&
  field.length <= recordRoutes.maxFieldPath &&
  pathProblem(field) === undefined;

/** Another field takes the place of one that has not been used for so long. */
const idleDays = 1;

/** One that nobody has used for so long goes, though no other field needs its place. */
const unusedDays = 14;

const readSlots = (database: Database, { projectNumber, id }: CollectionKey) =>
  database.query<SlotRow>(
    `SELECT slot, field, state, is_pinned,
       extract(epoch FROM now() - greatest(assigned_at, used_at))::float8 / 86400 AS idle_days
     FROM slots WHERE ${inCollection} ORDER BY slot`,
    [projectNumber, id],
  );

/** Until the end of the transaction nobody else changes the collection's slots. */
const lockCollection = ({ projectNumber, id }: CollectionKey, database: Database) =>
  database.query(`SELECT FROM collections WHERE ${inCollection} FOR NO KEY UPDATE`, [
    projectNumber,
    id,
  ]);

/** Writers that do not know of the change write nothing from its commit on. */
const changeEpoch = ({ projectNumber, id }: CollectionKey, database: Database) =>
  database.query(`UPDATE collections SET epoch = epoch + 1 WHERE ${inCollection}`, [
    projectNumber,
    id,
  ]);

/** The slot for a new field: a free one, or the least used of those that may go. */
const chooseSlot = (rows: readonly SlotRow[], isPinned: boolean): number | undefined => {
  const taken = new Set(rows.map(({ slot }) => slot));
  for (let slot = 1; slot <= slotCount; slot++) if (!taken.has(slot)) return slot;
  const evictable = rows.filter(
    (row) => !row.is_pinned && (isPinned || row.state === 'dropping' || row.idle_days >= idleDays),
  );
  return evictable.sort((a, b) => b.idle_days - a.idle_days)[0]?.slot;
};

/** A field that lists and counts look through records for, and what that has cost. */
export interface Wanted {
  field: string;
  scans: number;
  scannedMs: number;
}

const assignSql = `INSERT INTO slots (project_id, coll_id, slot, field, state, is_pinned, assigned_at, scans, scanned_ms)
  VALUES ($1, $2, $3, $4, 'building', $5, $6, $7, $8)
  ON CONFLICT (project_id, coll_id, slot) DO UPDATE SET
    field = excluded.field, state = excluded.state, is_pinned = excluded.is_pinned,
    assigned_at = excluded.assigned_at, is_known = false, position = NULL, filled = 0, ready_at = NULL,
    distinct_share = 0, uses = 0, used_at = NULL, scans = excluded.scans, scanned_ms = excluded.scanned_ms`;

/** Returns whether there was a slot for the field. @param wanted undefined where the owner has asked for it */
const assign = async (
  database: Database,
  collection: CollectionKey,
  field: string,
  wanted?: Wanted,
): Promise<boolean> => {
  const isPinned = wanted === undefined;
  const rows = await readSlots(database, collection);
  const existing = rows.find((row) => row.field === field);
  if (existing && existing.state !== 'dropping') return false;
  const slot = existing?.slot ?? chooseSlot(rows, isPinned);
  if (slot === undefined) return false;
  const { projectNumber, id } = collection;
  const { scans = null, scannedMs = null } = wanted ?? {};
  await database.query(assignSql, [
    projectNumber,
    id,
    slot,
    field,
    isPinned,
    new Date(),
    scans,
    scannedMs,
  ]);
  await changeEpoch(collection, database);
  return true;
};

export interface SlotAssignment {
  /** Indexes exactly these fields for as long as the owner wants. @throws ApiError invalid_body */
  pin(collection: CollectionKey, fields: readonly string[]): Promise<void>;
  /** Indexes the first of these that has values to compare, where there is room. @returns why the others are not */
  observe(collection: CollectionKey, wanted: readonly Wanted[]): Promise<Map<string, NotIndexed>>;
  /** Takes slots away that nobody uses and nobody has asked for. */
  dropUnused(): Promise<void>;
}

export const createSlotAssignment = (
  database: Database,
  outbox: Outbox<EventPayloads>,
): SlotAssignment => {
  const change = (collection: CollectionKey, work: () => Promise<boolean>) =>
    database.transaction(async () => {
      await lockCollection(collection, database);
      const { projectNumber, name } = collection;
      if (await work()) await outbox.append('collection.changed', { projectNumber, name });
    });
  return {
    pin: (collection, given) =>
      change(collection, async () => {
        const fields = [...new Set(given)];
        for (const field of fields) checkField(field);
        // Before any is assigned: a new field takes the place of none that is to stay.
        await database.query(
          `UPDATE slots SET is_pinned = NOT is_pinned
           WHERE ${inCollection} AND state <> 'dropping' AND is_pinned <> (field = ANY ($3))`,
          [collection.projectNumber, collection.id, fields],
        );
        for (const field of fields) await assign(database, collection, field);
        return true;
      }),
    async observe(collection, wanted) {
      const found = new Map<string, NotIndexed>(wanted.map(({ field }) => [field, 'waiting']));
      await change(collection, async () => {
        const rows = await readSlots(database, collection);
        if (rows.some(({ state }) => state === 'building')) return false;
        const fields = wanted.map(({ field }) => field);
        const suitable = await findSuitable(database, collection, fields);
        for (const field of fields) if (!suitable.has(field)) found.set(field, 'no_values');
        const first = wanted.find(({ field }) => suitable.has(field));
        if (!first) return false;
        const isAssigned = await assign(database, collection, first.field, first);
        if (isAssigned) found.delete(first.field);
        else for (const field of suitable) found.set(field, 'no_room');
        return isAssigned;
      });
      return found;
    },
    async dropUnused() {
      const unused = await readAcrossProjects<CollectionKey & { slot: number }>(
        database,
        unusedSql,
      );
      for (const { slot, ...collection } of unused) {
        await change(collection, async () => {
          await database.query(
            `UPDATE slots SET state = 'dropping', position = NULL, is_known = false, assigned_at = $4
             WHERE ${inCollection} AND slot = $3 AND state = 'ready' AND NOT is_pinned`,
            [collection.projectNumber, collection.id, slot, new Date()],
          );
          await changeEpoch(collection, database);
          return true;
        });
      }
    },
  };
};

const unusedSql = `SELECT c.project_id AS "projectNumber", c.coll_id AS id, name, slot
  FROM slots JOIN collections c ON c.project_id = slots.project_id AND c.coll_id = slots.coll_id
  WHERE state = 'ready' AND NOT is_pinned AND greatest(ready_at, used_at) < now() - interval '${unusedDays} days'
  LIMIT 100`;

/** Of the newest and of the oldest records: how many, and how much of them, the first always. */
const sampleRows = 1000;
const sampleBytes = 2 * 1024 * 1024;

/** Which fields are mostly no arrays and objects, among the newest and the oldest records: some are only set later. */
const findSuitable = async (
  database: Database,
  collection: CollectionKey,
  fields: readonly string[],
): Promise<Set<string>> => {
  const parameters = startParameters(collection);
  const from = (order: 'ASC' | 'DESC') =>
    `(SELECT data, owner_id FROM (
        SELECT data, owner_id, sum(size_bytes) OVER (ORDER BY id ${order}) - size_bytes AS bytes_before
        FROM records WHERE ${inCollection} ORDER BY id ${order} LIMIT ${sampleRows}) sized
      WHERE bytes_before < ${sampleBytes})`;
  const keys = fields.map((field, n) => `${recordKeySql(field, parameters)} AS key${n}`);
  const isSuitable = fields.map(
    (_, n) => `count(*) FILTER (WHERE key${n} NOT IN ('[]', 'null')) > 0
      AND count(*) FILTER (WHERE key${n} = '[]') * 2 <= count(*)`,
  );
  const [sample] = await database.query<{ suitable: boolean[] }>(
    `SELECT ARRAY[${isSuitable.join(', ')}] AS suitable FROM (
       SELECT ${keys.join(', ')} FROM (${from('DESC')} UNION ALL ${from('ASC')}) records) keys`,
    parameters.values,
  );
  return new Set(fields.filter((_, n) => sample?.suitable[n]));
};

/** @throws ApiError invalid_body */
const checkField = (field: string): void => {
  const quoted = JSON.stringify(field.slice(0, 60));
  const problem = pathProblem(field) ?? severalNamed(field);
  if (problem) throw new ApiError('invalid_body', `indexes: the field ${quoted} ${problem}.`);
  if (canHaveSlot(field)) return;
  throw new ApiError(
    'invalid_body',
    `indexes: ${quoted} can not be indexed; "id" and "createdAt" always are.`,
  );
};
