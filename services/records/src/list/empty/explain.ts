import type { FieldShape, FieldType } from '@backlot/contract';
import { nearestName } from '@backlot/http';
import { isPosition, systemFields } from '../../fields.ts';
import { maxNameLength as maxInferredName } from '../../shape/infer-fields.ts';
import type { Filter, Json, Test } from '../../where/filter.ts';
import { foldCase } from '../../where/fold-case.ts';
import type { KnownFields } from './known-fields.ts';

/** Those of a record beside its data. */
const ownFields: readonly string[] = [...systemFields, 'groupId'];
/** As many names as a hint lists. */
const maxNames = 10;
const maxNameLength = 60;
const minPrefix = 3;

const quoted = (name: string) =>
  JSON.stringify(name.length > maxNameLength ? `${name.slice(0, maxNameLength)}…` : name);

const listed = (names: readonly string[]) =>
  names.slice(0, maxNames).map(quoted).join(', ') + (names.length > maxNames ? ', …' : '');

/** What a field is compared with; undefined where a record without the field fits too. */
const operands = (test: Test): readonly Json[] | undefined => {
  switch (test.op) {
    case 'eq':
      return test.value === null ? undefined : [test.value];
    case 'in':
      return test.values.includes(null) ? undefined : test.values;
    case 'compare':
      return [test.value];
    case 'text':
      return [test.text];
    default:
      return [];
  }
};

/** Under an object whose names are data, or too deep to have been looked at. */
const isUncertain = (path: string, { fields, hasMoreFields }: KnownFields): boolean => {
  if (hasMoreFields) return true;
  const parts = path.split('.');
  if (parts.some((part) => part.length > maxInferredName)) return true;
  for (let end = parts.length - 1; end > 0; end--) {
    const parent = parts.slice(0, end).join('.');
    const field = fields.get(parent);
    if (!field) continue;
    const holdsObjects = [...field.types, ...(field.itemTypes ?? [])].includes('object');
    return holdsObjects && ![...fields.keys()].some((known) => known.startsWith(`${parent}.`));
  }
  return false;
};

/** The known name that begins as the one that was asked for, or the other way round. */
const nearestPrefix = (path: string, paths: readonly string[]): string | undefined => {
  const asked = path.toLowerCase();
  return paths.find((candidate) => {
    const known = candidate.toLowerCase();
    const [shorter, longer] = asked.length < known.length ? [asked, known] : [known, asked];
    return shorter.length >= minPrefix && longer.startsWith(shorter);
  });
};

const explainMissing = (path: string, known: KnownFields): string | undefined => {
  if (isUncertain(path, known)) return undefined;
  const paths = [...known.fields.keys()];
  const nearest =
    nearestName(path, [...paths, ...ownFields]) ??
    nearestPrefix(path, paths) ??
    paths.find((candidate) => candidate.endsWith(`.${path}`));
  const missing = `No record of the sample has ${quoted(path)}`;
  if (nearest !== undefined) return `${missing}; did you mean ${quoted(nearest)}?`;
  const names = paths.filter((candidate) => !candidate.includes('.'));
  return names.length === 0 ? undefined : `${missing}; there are ${listed(names)}.`;
};

const typeNames: Partial<Record<FieldType, string>> = {
  string: 'strings',
  number: 'numbers',
  boolean: 'booleans',
};

const plainType = (value: Json): string | undefined => typeNames[typeof value as FieldType];

/** Comparisons are within a type: `{"priority": "2"}` finds no number. */
const explainType = (field: FieldShape, values: readonly Json[]): string | undefined => {
  const types = [...field.types, ...(field.itemTypes ?? [])];
  const held = types.map((type) => typeNames[type]);
  const [asked] = values.map(plainType);
  if (asked === undefined || values.some((value) => plainType(value) !== asked)) return undefined;
  const isOther = held.includes(asked) || types.includes('object');
  const names = [...new Set(held.filter((name) => name !== undefined))];
  if (isOther || names.length === 0) return undefined;
  return `${quoted(field.path)} holds ${names.join(' and ')}, and was compared with ${asked}.`;
};

const explainValue = (
  field: FieldShape,
  values: readonly Json[],
  { texts }: KnownFields,
): string | undefined => {
  const held = texts.get(field.path) ?? new Set();
  const asked = values.filter((value) => typeof value === 'string');
  if (asked.length < values.length || asked.some((text) => held.has(text))) return undefined;
  for (const text of asked) {
    const folded = foldCase(text);
    const inOtherCase = [...held].find((candidate) => foldCase(candidate) === folded);
    if (inOtherCase !== undefined)
      return `${quoted(field.path)} is compared with its case; did you mean ${quoted(inOtherCase)}?`;
  }
  const [text] = asked;
  return field.values && text !== undefined
    ? `No record of the sample has ${quoted(text)} in ${quoted(field.path)}; there are ${listed(field.values)}.`
    : undefined;
};

const explainTest = (path: string, test: Test, known: KnownFields): string | undefined => {
  const values = operands(test);
  if (!values || ownFields.includes(path)) return undefined;
  const withoutPositions = path
    .split('.')
    .filter((part) => !isPosition(part))
    .join('.');
  const field = known.fields.get(path) ?? known.fields.get(withoutPositions);
  if (!field) return explainMissing(withoutPositions, known);
  const isEquality = test.op === 'eq' || test.op === 'in';
  return (
    explainType(field, values) ?? (isEquality ? explainValue(field, values, known) : undefined)
  );
};

const randomOrder = /^(random|rand|shuffled?)$/i;

/** Of fields that are no part of a filter: the first that no record of the sample has. */
export const explainFields = (paths: readonly string[], known: KnownFields): string | undefined => {
  for (const path of paths) {
    const withoutPositions = path
      .split('.')
      .filter((part) => !isPosition(part))
      .join('.');
    if (ownFields.includes(path) || known.fields.has(withoutPositions)) continue;
    if (randomOrder.test(path))
      return `No record of the sample has ${quoted(path)}, and there is no random order: sort by a field that holds random numbers, or shuffle the page.`;
    const hint = explainMissing(withoutPositions, known);
    if (hint !== undefined) return hint;
  }
  return undefined;
};

/** For a collection that is not there, from the names of those that are. */
export const explainCollection = (name: string, names: readonly string[]): string | undefined => {
  if (names.length === 0) return undefined;
  const nearest = nearestName(name, names) ?? nearestPrefix(name, names);
  const missing = `There is no collection ${quoted(name)}`;
  return nearest === undefined
    ? `${missing}; there are ${listed(names)}.`
    : `${missing}; did you mean ${quoted(nearest)}?`;
};

/** Why a filter may have found nothing, in a sentence; undefined where the sample does not tell. */
export const explainEmpty = (filter: Filter, known: KnownFields): string | undefined => {
  switch (filter.kind) {
    case 'test':
      return explainTest(filter.field, filter.test, known);
    case 'not':
      return undefined;
    default:
      for (const part of filter.filters) {
        const hint = explainEmpty(part, known);
        if (hint !== undefined) return hint;
      }
      return undefined;
  }
};
