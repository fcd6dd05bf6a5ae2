import { ApiError, type CollectionAccess } from '@backlot/contract';
import { fieldsIn } from '../../where/filter.ts';
import { parseRuleFilter } from '../../where/rule-filter.ts';
import { isWord, type RuleEntry } from './terms.ts';

/** Of all the different filters of a collection's rules: each record that is read is tested for them. */
const maxConditions = 20;

const refuse = (place: string, message: string): never => {
  throw new ApiError('invalid_body', `"access" is wrong at "${place}": ${message}`);
};

type Lists = Record<string, readonly RuleEntry[] | undefined>;

const placed = (lists: Lists, prefix: string) =>
  Object.entries(lists).flatMap(([name, entries = []]) =>
    entries.map((entry, i) => ({ entry, place: `${prefix}${name}.${i}` })),
  );

const parseAt = (place: string, where: unknown) => {
  try {
    return parseRuleFilter(where);
  } catch (error) {
    if (error instanceof ApiError) refuse(place, error.message);
    throw error;
  }
};

/** @throws ApiError invalid_body where a rule has no filter that it may have */
export const checkRuleFilters = (access: CollectionAccess): void => {
  if (typeof access === 'string') return;
  const { fields = {}, ...lists } = access;
  const all = [
    ...placed(lists, ''),
    ...Object.entries(fields).flatMap(([field, rules]) => placed(rules, `fields.${field}.`)),
  ];
  const namesGroups = all.some(({ entry }) =>
    (isWord(entry) ? [entry] : entry.to).some((word) => /^group(:|$)/.test(word)),
  );
  const different = new Map<string, number>();
  for (const { entry, place } of all) {
    if (isWord(entry)) continue;
    const asked = fieldsIn(parseAt(place, entry.where));
    if (namesGroups && asked.includes('groupId'))
      refuse(place, '"groupId" is the record’s own here: say group, or group:<role>, in "to".');
    different.set(JSON.stringify(entry.where), asked.length);
    if ([...different.values()].reduce((sum, count) => sum + count, 0) > maxConditions)
      refuse(place, `rules have at most ${maxConditions} conditions in all their "where".`);
  }
};
