import { ApiError } from '@backlot/contract';
import { fieldsIn } from '../where/filter.ts';
import { type CompiledAccess, countRule } from './rules.ts';
import { isWord, type RuleEntry, ruleFilter } from './terms/terms.ts';

/** Errors of what rules refuse, with the rule in words and who can change it. */

/** What is done with a record that is there; `count` adds to numbers and does nothing else. */
export type WriteAction = 'change' | 'delete' | 'count';

/** What a rule is about, as an error names it. */
export interface Place {
  project: { id: string };
  collection: { name: string };
}

/** Who is refused by which rules. */
interface Refused {
  userId: string | null;
  compiled: CompiledAccess;
}

export const signInFirst = () =>
  new ApiError(
    'unauthenticated',
    'Sign in first: send a token as "Authorization: Bearer <token>".',
  );
export const recordNotFound = (hint?: string) =>
  new ApiError('not_found', 'There is no such record.', hint === undefined ? {} : { hint });

/** Of a condition the fields alone: its values are no caller's to know. */
const listedEntry = (entry: RuleEntry): string => {
  if (isWord(entry)) return entry;
  const filter = ruleFilter(entry.where);
  const fields = new Set(filter ? fieldsIn(filter) : []);
  return `${entry.to.join(' or ')} where ${[...fields].map((field) => JSON.stringify(field)).join(', ')} allows it`;
};

const listed = (rule: readonly RuleEntry[]) =>
  rule.length === 0
    ? 'nobody but the project’s owner and its keys'
    : rule.map(listedEntry).join(', ');

const ruleFor = (rules: CompiledAccess['rules'], action: WriteAction): readonly RuleEntry[] => {
  switch (action) {
    case 'change':
      return rules.change;
    case 'delete':
      return rules.delete ?? rules.change;
    case 'count':
      return countRule(rules);
  }
};

/** What the collection's rule says, and who can change it. */
export const ruleHint = (
  { compiled: { access, rules } }: Refused,
  { project, collection }: Place,
  action: 'create' | WriteAction,
): string => {
  const rule = action === 'create' ? rules.create : ruleFor(rules, action);
  const counting =
    action === 'change' && rules.count
      ? ` By the rule for "count" (${listed(rules.count)}) a PATCH with "inc" alone may add to numbers.`
      : '';
  const kind = typeof access === 'string' ? ` (the preset "${access}")` : '';
  const names = (word: string) => rule.some((entry) => listedEntry(entry).includes(word));
  const giveRole =
    rule.length === 0 || names('role:')
      ? `; a role is given to a user by PATCH /api/platform/projects/${project.id}/users/<id> {"role": "staff"}.`
      : '.';
  return (
    `In "${collection.name}"${kind} the rule for "${action}" is: ${listed(rule)}.${counting} The project’s owner sets rules by ` +
    `PUT /api/platform/projects/${project.id}/collections/${collection.name} {"access": …}${giveRole}`
  );
};

/** A user whom a rule with `verified` refuses has one way left, which a page can show. */
export const refusalFor = (rule: readonly RuleEntry[], otherwise: string): string =>
  rule.includes('verified')
    ? 'Confirm your e-mail address first: follow the link in the mail.'
    : otherwise;

/** docs/api.md, "Access": anonymous callers get 401, signed-in ones 403. */
export const changeForbidden = (access: Refused, place: Place, action: WriteAction): ApiError =>
  access.userId === null
    ? signInFirst()
    : new ApiError(
        'forbidden',
        refusalFor(
          ruleFor(access.compiled.rules, action),
          `You may not ${action === 'count' ? 'add to numbers of' : action} this record.`,
        ),
        {
          hint: ruleHint(access, place, action),
        },
      );

/** The rule admits the caller to the record as it is, and would not to what they make of it. */
export const changedForbidden = (access: Refused, place: Place, action: WriteAction): ApiError =>
  new ApiError(
    access.userId === null ? 'unauthenticated' : 'forbidden',
    'You may not change this record so: the rule has to admit you to what it becomes, too.',
    { hint: ruleHint(access, place, action) },
  );

/** Who may only count adds to what is there, so that strangers don't fill records with fields. */
export const countForbidden = (access: Refused, field: string, place: Place): ApiError =>
  access.userId === null
    ? new ApiError('unauthenticated', uncountable(field))
    : new ApiError('forbidden', uncountable(field), { hint: ruleHint(access, place, 'change') });

const uncountable = (field: string) =>
  `You may only add to numbers that the record has: ${JSON.stringify(field.slice(0, 100))} is none.`;

export const fieldRefused = (access: Refused, message: string, { project, collection }: Place) =>
  new ApiError(access.userId === null ? 'unauthenticated' : 'forbidden', message, {
    hint: `A rule in "fields" of the collection "${collection.name}", or "x-set" in its schema, says so; the project’s owner sets it by PUT /api/platform/projects/${project.id}/collections/${collection.name} {"access": …}.`,
  });

export const quotedField = (field: string) => JSON.stringify(field.slice(0, 100));

export const fieldForbidden = (access: Refused, field: string, place: Place): ApiError =>
  fieldRefused(access, `You may not change the field ${quotedField(field)}.`, place);

const noGroups = ({ collection, project }: Place) =>
  `The rules of "${collection.name}" name no groups. The project’s owner sets those that do by PUT /api/platform/projects/${project.id}/collections/${collection.name} {"access":"team"}.`;

/** @throws ApiError `code` where the rules of the collection name no groups */
export const checkKnowsGroups = (
  { compiled }: Pick<Refused, 'compiled'>,
  place: Place,
  part: 'group' | 'groupId',
  code: 'invalid_body' | 'invalid_query',
): void => {
  if (compiled.uses.group) return;
  throw new ApiError(code, `"${part}": this collection knows no groups.`, {
    hint: noGroups(place),
  });
};
