import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Collection } from '../collections/collections.ts';
import type { Update } from '../record/change/change.ts';
import type { SendChange } from '../record/change/send-change.ts';
import { inCollection, startParameters } from '../sql.ts';

interface Gift {
  from: string;
  to: string;
  collection: Collection;
  nowMs: number;
}

/** A record, and the fields of it that name its former owner because the server has written them so. */
interface Given {
  id: string;
  naming: readonly string[];
}

const ownerFields = ({ schema }: Collection) =>
  (schema?.serverFields ?? []).filter(([, value]) => value === 'owner').map(([field]) => field);

/** Those of the records that are the giver's still, locked. */
const lockGiven = (
  database: Database,
  { from, collection }: Gift,
  ids: readonly string[],
): Promise<Given[]> => {
  const { values } = startParameters(collection, ids, from, ownerFields(collection));
  return database.query<Given>(
    `SELECT id, ARRAY(SELECT field FROM unnest($5::text[]) field WHERE data -> field = to_jsonb($4::text)) AS naming
       FROM records WHERE ${inCollection} AND id = ANY ($3::uuid[]) AND owner_id = $4::uuid ORDER BY id FOR UPDATE`,
    values,
  );
};

const toUpdate = ({ to, collection, nowMs }: Gift, given: readonly Given[]): Update => {
  const isNamed = (field: string) => given.some(({ naming }) => naming.includes(field));
  return {
    kind: 'update',
    collection,
    edits: given.map(({ id, naming }) => ({
      id,
      ownerId: to,
      dataJson: JSON.stringify(Object.fromEntries(naming.map((field) => [field, to]))),
      unset: [],
      inc: {},
    })),
    how: 'merge',
    names: isNamed,
    isChanged: isNamed,
    changesOwner: true,
    now: nowMs,
  };
};

const isClash = (error: unknown) => error instanceof ApiError && error.code === 'not_unique';

/**
 * Makes records of one user another one's. One that may be there once an owner, where the other has theirs, is deleted:
 * the log keeps what it was. Belongs into a transaction.
 * @returns false where the statement was made for other slots
 */
export const giveRecords = async (
  { database, send }: { database: Database; send: SendChange },
  gift: Gift,
  ids: readonly string[],
): Promise<boolean> => {
  const given = await lockGiven(database, gift, ids);
  if (given.length === 0) return true;
  /** Undefined where the new owner has what one of them would be. */
  const tryToGive = (some: readonly Given[]) =>
    database
      .transaction(() => send(toUpdate(gift, some)))
      .catch((error: unknown) => {
        if (isClash(error)) return undefined;
        throw error;
      });
  const all = await tryToGive(given);
  if (all) return all.length > 0;
  const { collection } = gift;
  for (const one of given) {
    const changed =
      (await tryToGive([one])) ?? (await send({ kind: 'delete', collection, ids: [one.id] }));
    if (changed.length === 0) return false;
  }
  return true;
};
