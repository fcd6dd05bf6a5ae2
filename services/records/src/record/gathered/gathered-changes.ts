import { writePolicySql } from '../../collections/access.ts';
import { touchedFields } from '../../collections/stored/claims.ts';
import { touchesWords } from '../../collections/stored/search-words.ts';
import { countGrowthSql } from '../../collections/stored/side-sql.ts';
import { isCurrentSql, slotAssignments } from '../../collections/stored/slots.ts';
import { and, inCollection, Parameters, startParameters } from '../../sql.ts';
import { mergedSql, noNumberSql, sumsSql } from '../patch.ts';
import {
  returnUpdated,
  type UpdatedRow,
  updatedColumns,
  updateSql,
  type WriteRecords,
} from '../record-sql.ts';
import type { RecordTarget } from '../refusals.ts';
import { gatherCalls, maxGatheredBytes } from './gathered-calls.ts';

/** What a change does with the document: the fields given are set, numbers are added too, or it is another one. */
type Kind = 'set' | 'add' | 'replace';

export interface GatheredChange {
  target: RecordTarget;
  kind: Kind;
  dataJson: string;
  inc?: Readonly<Record<string, number>>;
  /** Whether it touches this field of the document's first level. */
  isChanged(field: string): boolean;
  /** The same by itself. @throws ApiError */
  alone(): Promise<UpdatedRow>;
}

const dataSql: Record<Kind, string> = {
  set: mergedSql('free.given'),
  add: `${mergedSql('free.given')} || ${sumsSql('free.added')}`,
  replace: 'free.given',
};

/** Which records the caller may change, with their id as a column; undefined where that takes more of them. */
const anyonesPolicySql = ({ access }: RecordTarget): string | undefined => {
  const parameters = new Parameters();
  const policy = writePolicySql({ ...access, userColumn: 'change.user_id' }, 'change', parameters);
  return parameters.values.length === 0 ? (policy ?? 'true') : undefined;
};

const setSlots = (change: GatheredChange, parameters: Parameters): string =>
  slotAssignments(
    change.target.collection.slots,
    dataSql[change.kind],
    parameters,
    change.isChanged,
  );

/** Of changes with one text; undefined where a change can't be among others. */
const findPlace = (change: GatheredChange): string | undefined => {
  const { target, kind, dataJson, isChanged } = change;
  const { collection, access } = target;
  const { hidden, frozen } = access.fields;
  const isAlone =
    dataJson.length > maxGatheredBytes ||
    hidden.length > 0 ||
    frozen.some(({ field }) => isChanged(field)) ||
    touchedFields(collection.unique, isChanged).length > 0 ||
    touchesWords(collection, isChanged);
  const policy = isAlone ? undefined : anyonesPolicySql(target);
  if (policy === undefined) return undefined;
  const { projectNumber, id, epoch } = collection;
  return `${projectNumber} ${id} ${epoch} ${kind} ${policy}${setSlots(change, new Parameters())}`;
};

/**
 * Changes what nobody else is changing: it waits for no lock, so that a call for a record that many change, or a
 * long transaction has, keeps no other one waiting, and no two of them wait for each other.
 */
const changeManySql = (
  first: GatheredChange,
  changes: readonly GatheredChange[],
  now: number,
): { text: string; parameters: Parameters } => {
  const { collection } = first.target;
  const adds = first.kind === 'add';
  const parameters = startParameters(
    collection,
    changes.map(({ target }) => target.id),
    changes.map(({ target }) => target.access.userId),
    changes.map(({ dataJson }) => dataJson),
    ...(adds ? [changes.map(({ inc }) => JSON.stringify(inc))] : []),
  );
  const [added, addedArray] = adds ? [', added', ', $6::jsonb[]'] : ['', ''];
  // Their ids are named twice: where collections are small, a plan for all would read the whole of one and join it.
  const among = `${inCollection} AND records.id = ANY ($3::uuid[])`;
  const matches = and([
    `${among} AND records.id = change.id`,
    anyonesPolicySql(first.target),
    adds ? `NOT ${noNumberSql('added')}` : undefined,
    `size_bytes <= ${maxGatheredBytes}`,
    isCurrentSql(collection, parameters),
  ]);
  const slots = setSlots(first, parameters);
  // Beside `changed`, Citus would fail to carry what is locked from one part of the statement to the next.
  const text = `WITH changed AS (
    WITH free AS (
      SELECT records.id, given${added}
      FROM unnest($3::uuid[], $4::uuid[], $5::jsonb[]${addedArray}) change(id, user_id, given${added}), records
      WHERE ${matches} FOR NO KEY UPDATE OF records SKIP LOCKED)
    ${updateSql(dataSql[first.kind], slots, now, parameters)}
    FROM free WHERE ${among} AND records.id = free.id ${returnUpdated}),
  counted AS (${countGrowthSql('changed')})
  SELECT ${updatedColumns('data')} FROM changed records`;
  return { text, parameters };
};

const toId = ({ target }: GatheredChange) => target.id.toLowerCase();

/** Has one statement make changes of different records of a collection that come together. */
export const gatherChanges = (
  write: WriteRecords,
  now: () => number,
): ((change: GatheredChange) => Promise<UpdatedRow>) => {
  const writeAll = async (
    _place: string,
    changes: readonly GatheredChange[],
  ): Promise<readonly (UpdatedRow | undefined)[]> => {
    const [first] = changes;
    if (!first || changes.length === 1) return Promise.all(changes.map((one) => one.alone()));
    const { text, parameters } = changeManySql(first, changes, now());
    const rows = await write<UpdatedRow>(first.target.collection, text, parameters);
    const byId = new Map(rows.map((row) => [row.id, row]));
    return changes.map((change) => byId.get(toId(change)));
  };
  const gathered = gatherCalls(writeAll, (a, b) => toId(a) === toId(b));

  return async (change) => {
    const place = findPlace(change);
    const changed = place === undefined ? undefined : await gathered(place, change);
    return changed ?? change.alone();
  };
};
