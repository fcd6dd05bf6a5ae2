import { ApiError, isUuid } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { type Access, checkRead, resolveAccess } from '../collections/access.ts';
import type { Collection } from '../collections/collections.ts';
import { checkVisible, readableSql } from '../collections/field-rules.ts';
import { checkKnowsGroups, type Place } from '../collections/forbidden.ts';
import { conditionFields } from '../collections/terms/terms.ts';
import { isSystemField } from '../fields.ts';
import type { Source } from '../source.ts';
import { and, inCollection, type Parameters } from '../sql.ts';
import { filterSql, isKeyTest } from '../where/compile.ts';
import { type Filter, fieldsIn, flattenAnd } from '../where/filter.ts';
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

/**
 * The user to whose records `mine` narrows what is read.
 * @throws ApiError unauthenticated where the caller is no user of the project
 */
export const parseMine = (
  mine: string | undefined,
  { caller, userId }: Identity,
): string | undefined => {
  if (mine !== '1' && mine !== 'true') return undefined;
  if (caller === 'user' && userId !== null) return userId;
  throw new ApiError('unauthenticated', '"mine" needs the token of a signed-in user.');
};

const refuseGroup = (what: string): never => {
  throw new ApiError('invalid_where', `"where": "groupId" ${what}.`, {
    hint: 'Send {"groupId":"<id>"} beside the other conditions; lists and counts take group=<id> too.',
  });
};

const toGroupId = (part: Filter): string | undefined => {
  if (part.kind !== 'test' || part.field !== 'groupId') return undefined;
  const { test } = part;
  if (test.op === 'eq' && isUuid(String(test.value))) return String(test.value).toLowerCase();
  return refuseGroup('takes the id of a group');
};

/**
 * Where records know groups, `groupId` is no field of the data: a filter on it is taken out, and limits
 * the records as `group` does. @throws ApiError invalid_where
 */
const takeGroup = (
  where: Filter,
  { compiled }: Access,
  group: string | undefined,
): { filter: Filter; groupId: string | undefined } => {
  const asked = group?.toLowerCase();
  if (!compiled.uses.group || !fieldsIn(where).includes('groupId'))
    return { filter: where, groupId: asked };
  const parts = flattenAnd(where);
  const ids = parts.map(toGroupId);
  const rest = parts.filter((_, index) => ids[index] === undefined);
  if (rest.flatMap(fieldsIn).includes('groupId')) refuseGroup('stands inside $or, $nor or $not');
  const groups = new Set([asked, ...ids].filter((id) => id !== undefined));
  if (groups.size > 1) refuseGroup('names more than one group');
  return { filter: { kind: 'and', filters: rest }, groupId: [...groups][0] };
};

/** What is left of a filter beside the group that it names, once the caller may see all that it asks for. */
const narrowFilter = (where: Filter, access: Access, place: Place, group: string | undefined) => {
  if (group !== undefined) checkKnowsGroups(access, place, 'group', 'invalid_query');
  const taken = takeGroup(where, access, group);
  checkRead(access);
  if (access.fields.hidden.length > 0) checkVisible(access, 'where', fieldsIn(taken.filter), place);
  return taken;
};

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

interface Asked {
  where: Filter;
  /** The query parameter `group`. */
  group?: string | undefined;
  ownerId?: string | undefined;
  /** Where the caller may change something. */
  source?: Source;
}

export interface Selected {
  selection: Selection;
  /** As a whole. */
  filter: Filter;
  place: Place & { collection: Collection };
}

/**
 * The records that a call asks for, as far as this caller may see them.
 * @throws ApiError invalid_query, invalid_where, unauthenticated, forbidden
 */
export const selectRecords = (
  collection: Collection,
  identity: Identity,
  { where, group, ownerId, source }: Asked,
): Selected => {
  const access = resolveAccess(collection.access, identity, source);
  const place = { project: identity.project, collection };
  const { filter, groupId } = narrowFilter(where, access, place, group);
  const selection = { collection, access, filter: splitFilter(filter), ownerId, groupId };
  return { selection, filter, place };
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
