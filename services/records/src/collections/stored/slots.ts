import type { Parameters } from '../../sql.ts';

/** How many fields of a collection can be indexed: the columns k1 to k6. */
export const slotCount = 6;

export type SlotState = 'building' | 'ready' | 'dropping';

/** A column of `records` that holds the sort key of a field, for the records of one collection. */
export interface Slot {
  number: number;
  /** As filters and sorts name it. */
  field: string;
  /** Only a ready one answers queries; all but a dropping one are filled by writers. */
  state: SlotState;
  /** How many different values a sample had, divided by its size. */
  distinctShare: number;
}

export const slotColumn = ({ number }: Slot): string => `k${number}`;

export const ownerField = 'ownerId';

/** What the column of the field holds, over a document and an owner. */
const keySql = (field: string, document: string, owner: string, parameters: Parameters): string =>
  field === ownerField
    ? `records.owner_key(${owner})`
    : `records.field_key(${document}, ${parameters.add(field.split('.'), 'text[]')})`;

export interface SlotValues {
  /** Each with a comma before it, to go behind the other columns of an INSERT. */
  columns: string;
  values: string;
}

const filled = (slots: readonly Slot[]) => slots.filter(({ state }) => state !== 'dropping');

export const slotValues = (
  slots: readonly Slot[],
  document: string,
  owner: string,
  parameters: Parameters,
): SlotValues => {
  const used = filled(slots);
  const value = ({ field }: Slot) => `, ${keySql(field, document, owner, parameters)}`;
  return {
    columns: used.map((slot) => `, ${slotColumn(slot)}`).join(''),
    values: used.map(value).join(''),
  };
};

/**
 * Assignments for an UPDATE, each with a comma before it. A column whose field the change can't touch is
 * left alone, so that PostgreSQL need not touch its index.
 * @param isChanged whether the change touches this field of the document's first level
 */
export const slotAssignments = (
  slots: readonly Slot[],
  document: string,
  parameters: Parameters,
  isChanged: (firstLevel: string) => boolean = () => true,
): string =>
  filled(slots)
    .filter(({ field }) => field !== ownerField && isChanged(field.split('.')[0] ?? field))
    .map((slot) => `, ${slotColumn(slot)} = ${keySql(slot.field, document, '', parameters)}`)
    .join('');

/** What a slot holds for a record of the table `records`. */
export const recordKeySql = (field: string, parameters: Parameters): string =>
  keySql(field, 'records.data', 'records.owner_id', parameters);

/** Which slots the collection has had before, as a number; `$1` and `$2` are its key. */
export const epochSql = '(SELECT epoch FROM collections WHERE project_id = $1 AND coll_id = $2)';

/**
 * Holds where the slots are still those that a statement was made for: no writer misses one, however
 * long ago it read them.
 */
export const isCurrentSql = ({ epoch }: { epoch: number }, parameters: Parameters): string =>
  `${epochSql} = ${parameters.add(epoch, 'int')}`;
