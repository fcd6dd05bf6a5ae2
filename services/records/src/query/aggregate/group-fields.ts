import { ApiError } from '@backlot/contract';
import { pathProblem } from '../../fields.ts';

/** docs/api.md, "Groups and sums". */
const maxGroupFields = 3;

const spans = ['day', 'week', 'month'] as const;
export type Span = (typeof spans)[number];

/** A field to group by. */
export interface GroupField {
  /** As it was asked for, `createdAt:day` with its span. */
  name: string;
  field: string;
  /** Of a time: by the span in which it lies. */
  span: Span | undefined;
}

const refuse = (message: string, hint?: string): never => {
  throw new ApiError('invalid_query', message, hint === undefined ? {} : { hint });
};

/** @throws ApiError invalid_query */
export const checkField = (parameter: string, field: string): string => {
  if (field === '') refuse(`"${parameter}" needs the name of a field`);
  const problem = pathProblem(field);
  if (problem) refuse(`"${parameter}": the field ${JSON.stringify(field)} ${problem}`);
  return field;
};

const known = /^(?<field>createdAt|updatedAt):(?<span>day|week|month)$/;
/** `due:day`, `createdAt:hour`, `day(createdAt)` and `date(createdAt)`. */
const otherParts =
  /^[\w.]+:(second|minute|hour|day|date|week|month|quarter|year|weekday)$|^\w+\(.*\)$/i;
const joinedNames = /^[\w.]+\s*\+\s*[\w.]+/;

const parseField = (name: string): GroupField => {
  const { field, span } = known.exec(name)?.groups ?? {};
  if (field !== undefined) return { name, field, span: span as Span };
  const quoted = JSON.stringify(name.slice(0, 100));
  if (joinedNames.test(name))
    refuse(
      `"group": ${quoted} is no field`,
      'Several have commas between, as in group=post,ownerId.',
    );
  if (otherParts.test(name))
    refuse(
      `"group": ${quoted} is no field; by time there are createdAt and updatedAt, each with :day, :week or :month`,
      'As in group=createdAt:day&timeZone=Europe/Berlin. For another time keep its day in a field of the record, such as {"day":"2026-01-31"}, and group by that.',
    );
  return { name, field: checkField('group', name), span: undefined };
};

/**
 * Reads the query parameter `group`.
 * @throws ApiError invalid_query
 */
export const parseGroupFields = (text: string | undefined): readonly GroupField[] => {
  const fields = (text?.split(',') ?? []).map((name) => parseField(name.trim()));
  if (fields.length > maxGroupFields) refuse(`"group" may name at most ${maxGroupFields} fields`);
  if (new Set(fields.map(({ name }) => name)).size < fields.length)
    refuse('"group" names a field twice');
  return fields;
};

/** PostgreSQL takes offsets such as +02:00 for the other side of Greenwich. */
const zoneName = /^[A-Za-z][\w+-]*(\/[A-Za-z][\w+-]*){0,2}$/;

export const unknownTimeZone = (name: string): ApiError =>
  new ApiError('invalid_query', `"timeZone": there is no time zone ${JSON.stringify(name)}`, {
    hint: 'Names are those of the IANA database, such as Europe/Berlin; in a browser: Intl.DateTimeFormat().resolvedOptions().timeZone.',
  });

/**
 * Reads the query parameter `timeZone`; UTC without it.
 * @throws ApiError invalid_query
 */
export const parseTimeZone = (name: string | undefined, fields: readonly GroupField[]): string => {
  if (name === undefined) return 'UTC';
  if (fields.every(({ span }) => span === undefined))
    refuse('"timeZone" goes with a group by time, such as group=createdAt:day');
  try {
    // As it was given: what Intl makes of it may be an older name, which not every database has.
    if (zoneName.test(name) && new Intl.DateTimeFormat('en', { timeZone: name })) return name;
  } catch {
    // Intl knows no such zone.
  }
  throw unknownTimeZone(name.slice(0, 100));
};
