import { ApiError, isUuid } from '@backlot/contract';
import type { Access } from '../collections/access.ts';
import { type Filter, fieldsIn } from '../where/filter.ts';

const refuse = (what: string): never => {
  throw new ApiError('invalid_where', `"where": "groupId" ${what}.`, {
    hint: 'Send {"groupId":"<id>"} beside the other conditions; lists and counts take group=<id> too.',
  });
};

const splitAnd = (filter: Filter): Filter[] =>
  filter.kind === 'and' ? filter.filters.flatMap(splitAnd) : [filter];

const toGroupId = (part: Filter): string | undefined => {
  if (part.kind !== 'test' || part.field !== 'groupId') return undefined;
  const { test } = part;
  if (test.op === 'eq' && isUuid(String(test.value))) return String(test.value).toLowerCase();
  return refuse('takes the id of a group');
};

/**
 * Where records know groups, `groupId` is no field of the data: a filter on it is taken out, and limits
 * the records as `group` does. @throws ApiError invalid_where
 */
export const takeGroup = (
  where: Filter,
  { compiled }: Access,
  group: string | undefined,
): { filter: Filter; groupId: string | undefined } => {
  const asked = group?.toLowerCase();
  if (!compiled.uses.group || !fieldsIn(where).includes('groupId'))
    return { filter: where, groupId: asked };
  const parts = splitAnd(where);
  const ids = parts.map(toGroupId);
  const rest = parts.filter((_, index) => ids[index] === undefined);
  if (rest.flatMap(fieldsIn).includes('groupId')) refuse('stands inside $or, $nor or $not');
  const groups = new Set([asked, ...ids].filter((id) => id !== undefined));
  if (groups.size > 1) refuse('names more than one group');
  return { filter: { kind: 'and', filters: rest }, groupId: [...groups][0] };
};
