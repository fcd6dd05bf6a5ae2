import type { AccessRules, CollectionAccess, CollectionLimits } from '@backlot/contract';
import { hintHeader, printable } from '@backlot/http';
import type { Place } from './forbidden.ts';
import { type PersonalKind, personalKinds } from './personal-values.ts';
import { compileAccess } from './rules.ts';
import { isWord, type RuleEntry } from './terms/terms.ts';

interface Advised {
  readonly name: string;
  readonly access: CollectionAccess;
  readonly personal?: Readonly<Record<string, PersonalKind>>;
}

/** Some records at least. */
const admitsAnyone = (rule: readonly RuleEntry[]): boolean =>
  rule.some((entry) => (isWord(entry) ? entry === 'anyone' : entry.to.includes('anyone')));

const isOpen = ({ read, fields }: AccessRules, field: string): boolean =>
  admitsAnyone(read) && admitsAnyone(fields?.[field]?.read ?? ['anyone']);

/** Whether strangers read the field, in some records at least. */
export const isOpenField = (access: CollectionAccess, field: string): boolean =>
  isOpen(compileAccess(access).rules, field);

/** Fields that look personal, and that strangers read, in some records at least. */
export const openPersonalFields = ({
  access,
  personal = {},
}: Advised): [string, PersonalKind][] => {
  const { rules } = compileAccess(access);
  return Object.entries(personal).filter(([field]) => isOpen(rules, field));
};

const listed = (fields: readonly string[]) =>
  fields.map((field) => `"${printable(field)}"`).join(', ');

/** What its owner should know of fields that everybody can read; undefined where nothing personal is. */
export const adviceFor = (collection: Advised): string | undefined => {
  const open = openPersonalFields(collection);
  if (open.length === 0) return undefined;
  const kinds = [...new Set(open.map(([, kind]) => personalKinds[kind]))].join(', ');
  const fields = listed(open.map(([field]) => field));
  return `Anyone can read ${fields} of "${collection.name}": ${kinds}, by the look of them. If that is not meant, hide them by a rule in "fields".`;
};

/** What its owner should know of limits that do not bind all who may create. */
export const limitsAdvice = (
  { name, access }: Advised,
  { perUser, perUserPerHour, perAddressPerHour }: CollectionLimits,
): string | undefined => {
  const limit = perUser === undefined ? 'perUserPerHour' : 'perUser';
  const isSet = perUser !== undefined || perUserPerHour !== undefined;
  const bindsAll = !isSet || perAddressPerHour !== undefined;
  if (bindsAll || !admitsAnyone(compileAccess(access).rules.create)) return undefined;
  return `Visitors without an account may create records of "${name}" too, and "${limit}" does not bind them: set "perAddressPerHour" beside it, or let only "users" create.`;
};

const maxRulesLength = 250;

/** The rules with these fields hidden from all but their records' owners: the app goes on reading the others. */
const hidingRules = ({ access }: Advised, fields: readonly string[]): string => {
  const { rules } = compileAccess(access);
  const hidden = Object.fromEntries(
    fields.map((field) => [field, { ...rules.fields?.[field], read: ['owner'] }]),
  );
  const all = JSON.stringify({ access: { ...rules, fields: { ...rules.fields, ...hidden } } });
  const isShort = all.length <= maxRulesLength && /^[\x20-\x7e]*$/.test(all);
  return isShort
    ? all
    : `{"access": ...} with "fields": {"${printable(fields[0] ?? '')}":{"read":["owner"]}, ...}`;
};

/** Of each collection as long as its process keeps it: its answers all ask. */
const known = new WeakMap<Advised, { advice: string; rules: string } | 'none'>();

const adviceOn = (collection: Advised) => {
  const found = known.get(collection);
  if (found) return found;
  const advice = adviceFor(collection);
  const fields = openPersonalFields(collection).map(([field]) => field);
  const made =
    advice === undefined ? 'none' : { advice, rules: hidingRules(collection, fields.slice(0, 3)) };
  known.set(collection, made);
  return made;
};

/** The advice as a header of an answer, behind what else is to be said. */
export const withAdvice = (
  headers: Record<string, string>,
  { project, collection }: { project: Place['project']; collection: Advised },
): Record<string, string> => {
  const found = adviceOn(collection);
  if (found === 'none') return headers;
  const how = `PUT /api/platform/projects/${project.id}/collections/${collection.name} ${found.rules}`;
  const hints = [headers[hintHeader], found.advice, how].filter((hint) => hint !== undefined);
  return { ...headers, [hintHeader]: hints.join(' ') };
};
