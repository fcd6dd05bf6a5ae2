import type { Column, ColumnType } from '../grid/columns.ts';
import type { Where } from './address.ts';

/** What somebody types to find records: a filter as JSON, or words. */
export type Typed = { where?: Where; search?: string } | { problem: string };

const mostTextFields = 5;

/** Words in any of the texts, where the collection has no search of its own. */
const containing = (words: string, columns: readonly Column[]): Where | undefined => {
  const texts = columns.filter(({ type, isSystem }) => type === 'text' && !isSystem);
  const conditions = texts
    .slice(0, mostTextFields)
    .map(({ name }) => ({ [name]: { $contains: words, $options: 'i' } }));
  return conditions.length > 1 ? { $or: conditions } : conditions[0];
};

export const readTyped = (text: string, columns: readonly Column[], canSearch: boolean): Typed => {
  const typed = text.trim();
  if (typed === '') return {};
  if (!typed.startsWith('{')) {
    if (canSearch) return { search: typed };
    const where = containing(typed, columns);
    return where
      ? { where }
      : { problem: 'No field here holds texts. A filter is an object: {"done": false}' };
  }
  try {
    return { where: JSON.parse(typed) as Where };
  } catch (error) {
    return { problem: `This is no JSON yet: ${(error as Error).message}` };
  }
};

/** How a filter reads. */
export const operators = {
  is: 'is',
  isNot: 'is not',
  contains: 'contains',
  startsWith: 'begins with',
  atLeast: 'is at least',
  atMost: 'is at most',
  exists: 'is there',
  isMissing: 'is not there',
} as const;
export type Operator = keyof typeof operators;

export const needsValue = (operator: Operator): boolean =>
  operator !== 'exists' && operator !== 'isMissing';

const byType: Readonly<Record<ColumnType, readonly Operator[]>> = {
  text: ['is', 'contains', 'startsWith', 'isNot', 'exists', 'isMissing'],
  number: ['is', 'atLeast', 'atMost', 'isNot', 'exists', 'isMissing'],
  boolean: ['is', 'isNot', 'exists', 'isMissing'],
  time: ['atLeast', 'atMost', 'is', 'exists', 'isMissing'],
  id: ['is', 'isNot', 'exists', 'isMissing'],
  json: ['exists', 'isMissing'],
  any: ['is', 'contains', 'atLeast', 'atMost', 'isNot', 'exists', 'isMissing'],
};
export const operatorsFor = ({ type }: Column): readonly Operator[] => byType[type];

const toValue = (text: string, type: ColumnType): unknown => {
  if (type === 'boolean') return text === 'true';
  const isNumber = text.trim() !== '' && Number.isFinite(Number(text));
  return isNumber && (type === 'number' || type === 'any') ? Number(text) : text;
};

/** The filter with a condition on one field more, in place of one that it had. */
export const withCondition = (
  where: Where | undefined,
  { name, type }: Column,
  operator: Operator,
  text: string,
): Where => {
  const value = toValue(text, type);
  const conditions: Readonly<Record<Operator, unknown>> = {
    is: value,
    isNot: { $ne: value },
    contains: { $contains: text, $options: 'i' },
    startsWith: { $startsWith: text },
    atLeast: { $gte: value },
    atMost: { $lte: value },
    exists: { $exists: true },
    isMissing: { $exists: false },
  };
  return { ...where, [name]: conditions[operator] };
};
