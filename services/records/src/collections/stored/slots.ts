import type { Parameters } from '../../sql.ts';

/** How many fields of a collection can be indexed: the columns k1 to k6. */
export const slotCount = 6;

export type SlotState = 'building' | 'ready' | 'dropping';

/** A column of `records` that holds the sort key of a field, for the records of one collection. */
export interface Slot {
  number: number;
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

export interface IndexColumn {
  column: string;
  value: string;
}

interface Indexed {
  document: string;
  /** Undefined where it stays. */
  owner: string | undefined;
  /** Whether the change touches this field of the document's first level. Default any. */
  isChanged?: ((field: string) => boolean) | undefined;
}

/** A column whose field the change can't touch is left alone, so that PostgreSQL need not touch its index. */
export const indexColumns = (
  slots: readonly Slot[],
  { document, owner, isChanged = () => true }: Indexed,
  parameters: Parameters,
): readonly IndexColumn[] => {
  const isTouched = ({ field }: Slot) =>
    field === ownerField ? owner !== undefined : isChanged(field.split('.')[0] ?? field);
  return slots
    .filter((slot) => slot.state !== 'dropping' && isTouched(slot))
    .map((slot) => ({
      column: slotColumn(slot),
      value: keySql(slot.field, document, owner ?? '', parameters),
    }));
};

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
