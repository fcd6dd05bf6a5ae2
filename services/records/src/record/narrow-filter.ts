import { ApiError } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { type Access, checkRead } from '../collections/access.ts';
import { checkVisible } from '../collections/field-rules.ts';
import type { Place } from '../collections/forbidden.ts';
import { takeGroup } from '../query/group-selection.ts';
import { type Filter, fieldsIn } from '../where/filter.ts';
import { checkKnowsGroups } from './group-field.ts';

/**
 * What is left of a filter beside the group that it names, once the caller may see all that it asks for.
 * @throws ApiError invalid_query, invalid_where, unauthenticated, forbidden
 */
export const narrowFilter = (
  where: Filter,
  access: Access,
  place: Place,
  group: string | undefined,
) => {
  if (group !== undefined) checkKnowsGroups(access, place, 'group', 'invalid_query');
  const usesGroups = group !== undefined || access.compiled.uses.group;
  const taken = usesGroups
    ? takeGroup(where, access, group)
    : { filter: where, groupId: undefined };
  checkRead(access);
  if (access.fields.hidden.length > 0) checkVisible(access, 'where', fieldsIn(taken.filter), place);
  return taken;
};

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
