import { isUuid, recordRoutes } from '@backlot/contract';
import { hintHeader, nearestName, printable } from '@backlot/http';
import { isSystemField } from '../fields.ts';
import type { Filter, Json, Test } from '../where/filter.ts';
import { isObject, nearestOperator } from '../where/parse-test.ts';
import type { Sort } from './sort.ts';

const { maxPageRecords } = recordRoutes;

/** `{"title":{"contains":"x"}}`: an object whose every key is an operator without its `$`. */
const bareOperator = (value: Json): string | undefined => {
  if (!isObject(value)) return undefined;
  const names = Object.keys(value);
  return names.every((name) => nearestOperator(name) !== undefined) ? names[0] : undefined;
};

/** `{"ownerId":"me"}` and `{"id":"12"}`: what is no UUID is nobody's. */
const ownerHint = (field: string, test: Test): string | undefined => {
  if (field !== 'ownerId' && field !== 'id') return undefined;
  const values = test.op === 'eq' ? [test.value] : test.op === 'in' ? test.values : [];
  const odd = values.find((value) => value !== null && !isUuid(String(value)));
  if (odd === undefined) return undefined;
  const compared = `"${field}" was compared with "${printable(String(odd))}", and holds UUIDs.`;
  return field === 'id'
    ? compared
    : `${compared} mine=1 lists the records of the user who calls; {"ownerId":null} those of nobody.`;
};

const filterHint = (filter: Filter): string | undefined => {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return findFirst(filter.filters, filterHint);
    case 'not':
      return filterHint(filter.filter);
    case 'test': {
      const owner = ownerHint(filter.field, filter.test);
      if (owner !== undefined) return owner;
      const name = filter.test.op === 'eq' ? bareOperator(filter.test.value) : undefined;
      if (name === undefined) return undefined;
      const field = printable(filter.field);
      return (
        `"${field}" was compared with an object that has the field "${printable(name)}". ` +
        `Operators begin with "$": did you mean {"${field}":{"${nearestOperator(name)}":...}}?`
      );
    }
  }
};

const findFirst = <T>(items: readonly T[], find: (item: T) => string | undefined) => {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
};

const direction = /(?:^|\.)(asc|desc|ascending|descending)$/i;

/** `created_at`, which may be a field of the data. */
const recordTime = /^(created|updated)_?(at|on|time|date)?$/i;

const timeHint = (field: string): string | undefined => {
  const [, time] = (isSystemField(field) ? undefined : recordTime.exec(field)) ?? [];
  return (
    time &&
    `Sorted by the field "${field}" of the data. The record's own is "${time.toLowerCase()}At".`
  );
};

/** `sort=price.desc` and `sort=price,desc`, which may be names of fields. */
const sortHint = ({ fields }: Sort): string | undefined => {
  const time = findFirst(fields, ({ field }) => timeHint(field));
  if (time !== undefined) return time;
  const odd = fields.find(({ field }) => direction.test(field));
  return odd === undefined
    ? undefined
    : `Sorted by the field "${printable(odd.field)}". For descending order put "-" before the field: sort=-price.`;
};

const limitHint = (limit: number): string | undefined =>
  limit > maxPageRecords
    ? `limit=${limit} was taken for ${maxPageRecords}, the most that a page has: its nextCursor, as cursor, leads to the next one.`
    : undefined;

/** Says in a header what a list or a count took for something else than was probably meant. */
export const listHints = (filter: Filter, sort?: Sort, limit = 0): Record<string, string> => {
  const hints = [filterHint(filter), sort && sortHint(sort), limitHint(limit)].filter(
    (hint) => hint !== undefined,
  );
  return hints.length === 0 ? {} : { [hintHeader]: hints.join(' ') };
};

const listWords = /^_?(search|query|find|filter|list|all|latest|first|last|recent)$/i;

/** For a path such as `/db/notes/count`, whose last part is no id. */
export const idHint = (collection: string, id: string): string => {
  const nearest = nearestName(id, ['_count', '_aggregate', '_batch']);
  const start = 'Ids of records are UUIDs.';
  if (nearest !== undefined) return `${start} Did you mean /db/${collection}/${nearest}?`;
  if (id.includes(','))
    return `${start} Several at once: GET /db/${collection}?where={"id":{"$in":[...]}}, or POST /db/${collection}/_batch.`;
  if (listWords.test(id))
    return `${start} To list: GET /db/${collection}?where={"field":"value"}&sort=-createdAt&limit=1.`;
  return id.startsWith('_')
    ? `${start} Beside them there are _count, _aggregate and _batch; who waits for changes asks again.`
    : start;
};
