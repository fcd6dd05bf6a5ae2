import { type Access, reachSql } from './access.ts';
import type { Collection } from './collections.ts';
import type { Parameters } from './parameters.ts';
import { all, inCollection } from './statement.ts';
import { filterSql, firstField, splitFilter } from './where/compile.ts';
import type { Filter } from './where/filter.ts';

/** The records that a list or count is about. */
export interface Selection {
  collection: Collection;
  access: Access;
  filter: Filter;
  /** Only records of this user. */
  ownerId: string | undefined;
}

/** What the primary key leads to, without looking at other columns. */
export const boundsSql = ({ filter }: Selection, parameters: Parameters): string =>
  all([inCollection, ...splitFilter(filter).bounds.map((each) => filterSql(each, parameters))]);

/** What each record within the bounds is looked at for. */
export const conditionsSql = (selection: Selection, parameters: Parameters): string[] => {
  const { access, filter, ownerId } = selection;
  const conditions = splitFilter(filter).conditions.map((each) => filterSql(each, parameters));
  const mine = ownerId === undefined ? undefined : `owner_id = ${parameters.add(ownerId, 'uuid')}`;
  const reach = reachSql(access.rights.read, access.userId, parameters);
  return [mine, reach, ...conditions].filter((each) => each !== undefined);
};

/** The field that records are looked at for; undefined where the primary key answers alone. */
export const scannedField = ({ access, filter, ownerId }: Selection): string | undefined => {
  const { conditions } = splitFilter(filter);
  const asked = conditions.map(firstField).find((field) => field !== undefined);
  const byOwner = ownerId !== undefined || access.rights.read !== 'all' ? 'ownerId' : undefined;
  return asked ?? byOwner ?? (conditions.length > 0 ? 'id' : undefined);
};
