import type { OnErase, UserDirectory } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { eraseUserLog, moveUserLog } from '../change-log/erase-log.ts';
import { type Collection, CollectionGone, type Collections } from '../collections/collections.ts';
import { onCurrentSlots, StaleSlots } from '../collections/current-slots.ts';
import { effectiveOnErase } from '../collections/on-erase.ts';
import { parseAccess } from '../collections/rules.ts';
import { isKeptSql } from '../collections/table/removal.ts';
import { createRunBatch, withRest } from '../indexes/building/batches.ts';
import type { WorkInTurns } from '../indexes/building/glance.ts';
import { createTurns, type Turn } from '../indexes/building/turns.ts';
import type { SendChange } from '../record/change/send-change.ts';
import { giveRecords } from './give-records.ts';
import { leaveRecords } from './leave-records.ts';
import { lookForRecords } from './look-for-records.ts';

/** A user whose records are looked for, and how far. */
interface ErasureRow {
  project_id: number;
  user_id: string;
  /** Whose the records become; null where the account was erased. */
  heir_id: string | null;
  /** Collections of lower numbers are done. */
  coll_id: number;
  /** Records of that collection up to this one are done. */
  after_id: string;
}

export interface UserEraser extends WorkInTurns {
  /** Notes an account that was erased; may be repeated. */
  begin(projectNumber: number, userId: string): Promise<void>;
  /** Notes an account that became part of another one's; may be repeated, and then looks for what came meanwhile. */
  beginMerge(projectNumber: number, userId: string, heirId: string): Promise<void>;
}

interface UserEraserDeps {
  database: Database;
  collections: Pick<Collections, 'find' | 'refresh'>;
  send: SendChange;
  users: Pick<UserDirectory, 'findRoleAndGroups'>;
  /** Epoch milliseconds. */
  now: () => number;
}

/** Records that one transaction looks at. */
const batchRows = 500;
/** Of those that it writes anew: each may have a megabyte. */
const batchOfChanges = 50;
const firstId = '00000000-0000-0000-0000-000000000000';

/** By then every write of the user that was under way has ended: a signed identity is good for 30 seconds. */
const afterLastWrite = "interval '2 minutes'";

const columns = 'project_id, user_id, heir_id, coll_id, after_id';
const nextSql = `SELECT DISTINCT ON (project_id) ${columns} FROM user_erasures
  WHERE heir_id IS NOT NULL OR requested_at < now() - ${afterLastWrite} ORDER BY project_id, requested_at`;
const ofJob = 'project_id = $1 AND user_id = $2';

/** What becomes of the records of a collection. */
type Fate = OnErase | 'give';

/** From the beginning, where it is under way; what a user is erased of is given to nobody. */
const beginSql = (condition: string) => `INSERT INTO user_erasures AS jobs
    (project_id, user_id, heir_id, requested_at, coll_id, after_id)
  VALUES ($1, $2, $3, now(), 0, '${firstId}')
  ON CONFLICT (project_id, user_id) DO UPDATE SET heir_id = excluded.heir_id,
    requested_at = excluded.requested_at, coll_id = excluded.coll_id, after_id = excluded.after_id
  WHERE ${condition}`;
const isMerge = 'jobs.heir_id IS NOT NULL';

/**
 * Deletes what erased users have made, or leaves it to nobody, as each collection says; of those who became part of
 * another account it gives all to that. What is done and how far it is
 * stand in one transaction: a process that dies loses and repeats nothing.
 */
export const createUserEraser = ({
  database,
  collections,
  send,
  users,
  now,
}: UserEraserDeps): UserEraser => {
  const takeTurns = createTurns<ErasureRow>({ database, nextSql });
  const runBatch = createRunBatch(database, 'user erasure');

  /** The next collection in which something is to be done, also of those that were deleted and can come back. */
  const findCollection = async ({ project_id, heir_id, coll_id }: ErasureRow) => {
    const rows = await database.query<{
      coll_id: number;
      name: string;
      access: string;
      on_erase: OnErase | null;
    }>(
      `SELECT coll_id, name, access, on_erase FROM collections
        WHERE project_id = $1 AND coll_id >= $2 AND (deleted_at IS NULL OR ${isKeptSql}) ORDER BY coll_id`,
      [project_id, coll_id],
    );
    for (const { coll_id: number, name, access, on_erase } of rows) {
      const onErase = effectiveOnErase(on_erase, parseAccess(access));
      const fate: Fate = heir_id === null ? onErase : 'give';
      if (fate === 'keep') continue;
      const known = await collections.find(project_id, name);
      // Another process may have known another one by this name.
      const collection =
        known?.id === number
          ? known
          : await collections.refresh({ projectNumber: project_id, name });
      if (collection.id === number) return { fate, collection };
    }
    return undefined;
  };

  const moveOn = (row: ErasureRow, collId: number, afterId: string) =>
    database.query(`UPDATE user_erasures SET coll_id = $3, after_id = $4 WHERE ${ofJob}`, [
      row.project_id,
      row.user_id,
      collId,
      afterId,
    ]);

  /** False where the statement was made for other slots. */
  const decide = async (
    { user_id: from, heir_id: to }: ErasureRow,
    collection: Collection,
    fate: Fate,
    theirs: readonly string[],
  ): Promise<boolean> => {
    const nowMs = now();
    if (to !== null)
      return giveRecords({ database, send }, { from, to, collection, nowMs }, theirs);
    return leaveRecords({ database, send }, { fate, collection, nowMs }, theirs);
  };

  const workBatch = async (row: ErasureRow, collection: Collection, fate: Fate) => {
    const isFirst = row.coll_id !== collection.id;
    const looked = await lookForRecords(database, {
      collection,
      userId: row.user_id,
      afterId: isFirst ? firstId : row.after_id,
      limit: batchRows,
    });
    const all = looked.filter(({ is_theirs }) => is_theirs).map(({ id }) => id);
    const theirs = all.slice(0, fate === 'delete' ? batchRows : batchOfChanges);
    if (theirs.length > 0 && !(await decide(row, collection, fate, theirs))) throw new StaleSlots();
    const behind = looked.length === batchRows ? looked.at(-1)?.id : undefined;
    const last = theirs.length < all.length ? theirs.at(-1) : behind;
    if (last === undefined) await moveOn(row, collection.id + 1, firstId);
    else await moveOn(row, collection.id, last);
  };

  /** @param heirIsGone whose records are then erased again, with those that have become theirs */
  const end = async ({ project_id, user_id, heir_id }: ErasureRow, heirIsGone: boolean) => {
    await database.query(`DELETE FROM user_erasures WHERE ${ofJob}`, [project_id, user_id]);
    if (heirIsGone) await database.query(beginSql('true'), [project_id, heir_id, null]);
  };

  const workNext = async (row: ErasureRow, work: () => Promise<unknown>): Promise<Turn> => {
    const [current] = await database.query<ErasureRow>(
      `SELECT ${columns} FROM user_erasures WHERE ${ofJob} FOR UPDATE`,
      [row.project_id, row.user_id],
    );
    const isSame =
      current?.coll_id === row.coll_id &&
      current.after_id === row.after_id &&
      current.heir_id === row.heir_id;
    if (!isSame) return 'nothing';
    await work();
    return 'worked';
  };

  const takeTurn = async (row: ErasureRow): Promise<Turn> => {
    const found = await findCollection(row);
    if (found)
      return onCurrentSlots(collections.refresh, found, ({ collection }) =>
        runBatch(() => workNext(row, () => workBatch(row, collection, found.fate))),
      );
    const { project_id, user_id, heir_id } = row;
    const heir = heir_id && (await users.findRoleAndGroups(project_id, heir_id));
    if (heir_id === null) await eraseUserLog(database, project_id, user_id);
    else await moveUserLog(database, project_id, user_id, heir_id);
    return runBatch(() => workNext(row, () => end(row, heir_id !== null && !heir)));
  };

  return {
    async begin(projectNumber, userId) {
      await database.query(beginSql(isMerge), [projectNumber, userId, null]);
    },

    async beginMerge(projectNumber, userId, heirId) {
      await database.query(beginSql(isMerge), [projectNumber, userId, heirId]);
    },

    nextSql,
    run: () =>
      takeTurns((row) =>
        withRest(() =>
          takeTurn(row).catch((error: unknown): Turn => {
            if (error instanceof CollectionGone) return 'waited';
            throw error;
          }),
        ),
      ),
  };
};
