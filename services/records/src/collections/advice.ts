import type { AccessRules, CollectionAccess } from '@backlot/contract';
import { hintHeader, printable } from '@backlot/http';
import type { Place } from './access.ts';
import { type PersonalKind, personalKinds } from './personal-values.ts';
import { compileAccess } from './rules.ts';

interface Advised {
  readonly name: string;
  readonly access: CollectionAccess;
  /** Fields in which a write had what looks personal. */
  readonly personal?: Readonly<Record<string, PersonalKind>>;
}

const isOpen = ({ read, fields }: AccessRules, field: string): boolean =>
  read.includes('anyone') && (fields?.[field]?.read ?? ['anyone']).includes('anyone');

const openFields = ({ access, personal = {} }: Advised): [string, PersonalKind][] => {
  const { rules } = compileAccess(access);
  return Object.entries(personal).filter(([field]) => isOpen(rules, field));
};

const listed = (fields: readonly string[]) =>
  fields.map((field) => `"${printable(field)}"`).join(', ');

/** What its owner should know of fields that everybody can read; undefined where nothing personal is. */
export const adviceFor = (collection: Advised): string | undefined => {
  const open = openFields(collection);
  if (open.length === 0) return undefined;
  const kinds = [...new Set(open.map(([, kind]) => personalKinds[kind]))].join(', ');
  const fields = listed(open.map(([field]) => field));
  return `Anyone can read ${fields} of "${collection.name}": ${kinds}, by the look of them. If that is not meant, hide them by a rule in "fields".`;
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
  const fields = openFields(collection).map(([field]) => field);
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
