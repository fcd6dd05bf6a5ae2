import { ApiError, type EventPayloads } from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import { pathProblem } from '../fields.ts';
import { inCollection } from '../sql.ts';
import { type SlotState, slotCount } from './slots.ts';

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

/** What an index can't be for. */
export const canHaveSlot = (field: string): boolean =>
  !withoutSlot.has(field) && pathProblem(field) === undefined;

/** One that another field takes the place of has not been used for so long. */
const idleDays = 14;

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

const assignSql = `INSERT INTO slots (project_id, coll_id, slot, field, state, is_pinned, assigned_at)
  VALUES ($1, $2, $3, $4, 'building', $5, $6)
  ON CONFLICT (project_id, coll_id, slot) DO UPDATE SET
    field = excluded.field, state = excluded.state, is_pinned = excluded.is_pinned,
    assigned_at = excluded.assigned_at, is_known = false, position = NULL, ready_at = NULL,
    distinct_share = 0, uses = 0, used_at = NULL`;

const assign = async (
  database: Database,
  collection: CollectionKey,
  field: string,
  isPinned: boolean,
): Promise<boolean> => {
  const rows = await readSlots(database, collection);
  const existing = rows.find((row) => row.field === field);
  const { projectNumber, id } = collection;
  if (existing && existing.state !== 'dropping') {
    if (isPinned)
      await database.query(
        `UPDATE slots SET is_pinned = true WHERE ${inCollection} AND slot = $3`,
        [...[projectNumber, id, existing.slot]],
      );
    return isPinned;
  }
  const slot = existing?.slot ?? chooseSlot(rows, isPinned);
  if (slot === undefined) return false;
  await database.query(assignSql, [projectNumber, id, slot, field, isPinned, new Date()]);
  await changeEpoch(collection, database);
  return true;
};

export interface SlotAssignment {
  /** Indexes exactly these fields for as long as the owner wants. @throws ApiError invalid_body */
  pin(collection: CollectionKey, fields: readonly string[]): Promise<void>;
  /** Indexes a field that queries use, where there is a slot for it. */
  observe(collection: CollectionKey, field: string): Promise<void>;
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
        await database.query(
          `UPDATE slots SET is_pinned = false WHERE ${inCollection} AND is_pinned AND field <> ALL ($3)`,
          [collection.projectNumber, collection.id, fields],
        );
        for (const field of fields) await assign(database, collection, field, true);
        return true;
      }),
    observe: (collection, field) =>
      change(collection, () => assign(database, collection, field, false)),
  };
};

/** @throws ApiError invalid_body */
const checkField = (field: string): void => {
  const quoted = JSON.stringify(field.slice(0, 60));
  const problem = pathProblem(field);
  if (problem) throw new ApiError('invalid_body', `indexes: the field ${quoted} ${problem}.`);
  if (canHaveSlot(field)) return;
  throw new ApiError(
    'invalid_body',
    `indexes: ${quoted} can not be indexed; "id" and "createdAt" always are.`,
  );
};
