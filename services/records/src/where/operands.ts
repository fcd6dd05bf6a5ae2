import { ApiError } from '@backlot/contract';
import { isStorableText, maxDepth } from '../fields.ts';
import { type Instant, parseInstant } from '../instant.ts';
import type { Json } from './filter.ts';

/** Contract section 4. */
export const maxListValues = 100;

export const refuse = (message: string): never => {
  throw new ApiError('invalid_where', `"where": ${message}`);
};

/** A client's text in a message, cut. */
export const quoted = (text: string): string =>
  JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);

export const isObject = (value: Json | undefined): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Refuses what no stored value can equal and what PostgreSQL can't read. */
export const checkOperand = (value: Json, place: string, depth = 1): void => {
  if (typeof value === 'string' && !isStorableText(value)) {
    refuse(`${place} has a text with NUL or half a surrogate pair.`);
  }
  if (typeof value === 'number' && !Number.isFinite(value)) {
    refuse(`${place} has a number that is too large.`);
  }
  if (typeof value !== 'object' || value === null) return;
  if (depth > maxDepth)
    refuse(`${place} is deeper than the ${maxDepth} levels that a record may have.`);
  for (const [key, item] of Object.entries(value)) {
    if (!Array.isArray(value)) {
      if (!isStorableText(key)) refuse(`${place} has a key with NUL or half a surrogate pair.`);
      if (key.startsWith('$')) {
        refuse(
          `${place}: ${quoted(key)} is no operator here; name a nested field with dots, as in "a.b".`,
        );
      }
    }
    checkOperand(item, place, depth + 1);
  }
};

export const listOf = (value: Json, place: string): Json[] => {
  if (!Array.isArray(value)) return refuse(`${place} needs a list.`);
  if (value.length > maxListValues) refuse(`${place} has more than ${maxListValues} values.`);
  return value;
};

/** Operands of `createdAt` and `updatedAt`. */
export const instantOf = (value: Json, place: string): Instant => {
  const instant = typeof value === 'string' ? parseInstant(value) : undefined;
  return (
    instant ??
    refuse(`${place} needs a date in ISO 8601, such as "2026-01-31" or "2026-01-31T09:30:00Z".`)
  );
};
