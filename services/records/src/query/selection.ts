import type { Access } from '../collections/access.ts';
import type { Collection } from '../collections/collections.ts';
import { readableSql } from '../collections/field-rules.ts';
import { conditionFields } from '../collections/terms/terms.ts';
import { isSystemField } from '../fields.ts';
import { and, inCollection, type Parameters } from '../sql.ts';
import { filterSql, isKeyTest } from '../where/compile.ts';
import { type Filter, fieldsIn } from '../where/filter.ts';
import type { SearchWords } from './search-query.ts';
import type { Sort } from './sort.ts';

export interface Selection {
  collection: Collection;
  access: Access;
  filter: SplitFilter;
  ownerId: string | undefined;
  groupId?: string | undefined;
  search?: SearchWords | undefined;
}

export interface SplitFilter {
  /** What the primary key answers: it bounds the rows that are read. */
  bounds: Filter[];
  /** What every row within the bounds is tested for. */
  conditions: Filter[];
}

export const splitFilter = (filter: Filter): SplitFilter => {
  const split: SplitFilter = { bounds: [], conditions: [] };
  addParts(filter, split);
  return split;
};

const addParts = (filter: Filter, split: SplitFilter): void => {
  if (filter.kind === 'and') {
    for (const part of filter.filters) addParts(part, split);
  } else if (filter.kind === 'test' && isKeyTest(filter.field, filter.test)) {
    split.bounds.push(filter);
  } else {
    split.conditions.push(filter);
  }
};

export const boundsSql = ({ filter }: Selection, parameters: Parameters): string =>
  and([inCollection, ...filter.bounds.map((bound) => filterSql(bound, parameters))]);

export const conditionsSql = (selection: Selection, parameters: Parameters): string[] => {
  const { access, filter, ownerId, groupId } = selection;
  const conditions = filter.conditions.map((condition) => filterSql(condition, parameters));
  const mine = ownerId === undefined ? undefined : `owner_id = ${parameters.add(ownerId, 'uuid')}`;
  const policy = readableSql(access, parameters);
  const group = groupId === undefined ? undefined : `group_id = ${parameters.add(groupId, 'uuid')}`;
  return [mine, group, policy, ...conditions].filter((condition) => condition !== undefined);
};

/** How many of the tests look into the document. */
export const dataTests = ({ filter, access }: Selection): number =>
  [...filter.conditions.flatMap(fieldsIn), ...conditionFields(access.rights.read)].filter(
    (field) => !isSystemField(field),
  ).length;

/** Whether a record passes. A large document is brought into memory once for all tests, and not for each. */
export const allHoldSql = (
  selection: Selection,
  tests: readonly (string | undefined)[],
): string => {
  const all = and(['true', ...tests]);
  return dataTests(selection) < 2
    ? `(${all})`
    : `(SELECT ${all} FROM (SELECT data || '{}'::jsonb AS data OFFSET 0) held)`;
};

/** The first field that rows are tested for; undefined where the primary key answers alone. */
export const scannedField = ({
  access,
  filter,
  ownerId,
  groupId,
}: Selection): string | undefined => {
  for (const condition of filter.conditions) {
    const field = firstField(condition);
    if (field !== undefined) return field;
  }
  if (groupId !== undefined) return 'groupId';
  if (ownerId === undefined && access.rights.read !== 'all')
    return conditionFields(access.rights.read)[0] ?? 'ownerId';
  if (ownerId !== undefined) return 'ownerId';
  return filter.conditions.length > 0 ? 'id' : undefined;
};

export const scannedFor = (query: Selection & { sort: Sort }): string | undefined =>
  scannedField(query) ?? query.sort.fields[0]?.field;

const firstField = (filter: Filter): string | undefined => {
  switch (filter.kind) {
    case 'test':
      return filter.field;
    case 'not':
      return firstField(filter.filter);
    default:
      return filter.filters.map(firstField).find((field) => field !== undefined);
  }
};
