import { type Access, checkCreate } from './access.ts';
import { fieldRefused, type Place, quotedField } from './forbidden.ts';
import { admitsNew, type NewRecord } from './terms/new-record.ts';
import { hasConditions, type RowPolicy } from './terms/terms.ts';

interface NewFields extends NewRecord {
  has(field: string): boolean;
}

/** A new record's JSON as its maker may see it: a field that is hidden from them is missing. */
export const visibleNewJson = (access: Access, made: NewFields & { json: string }): string => {
  const hidden = access.fields.hidden.filter(
    ({ field, policy }) => made.has(field) && !admitsNew(policy, access, made),
  );
  if (hidden.length === 0) return made.json;
  const left = new Set(hidden.map(({ field }) => field));
  const data: object = JSON.parse(made.json);
  return JSON.stringify(
    Object.fromEntries(Object.entries(data).filter(([field]) => !left.has(field))),
  );
};

const checkFields = (
  access: Access,
  made: NewFields,
  place: Place,
  isAsked: (policy: RowPolicy) => boolean,
): void => {
  for (const { field, policy } of access.fields.notGiven) {
    if (!isAsked(policy) || !made.has(field) || admitsNew(policy, access, made)) continue;
    const message = `You may not give the field ${quotedField(field)} in a new record.`;
    throw fieldRefused(access, message, place);
  }
};

const isPlain = (policy: RowPolicy) => !hasConditions(policy);

/** What rules say of a new record whatever is in it, as it was sent. @throws ApiError unauthenticated, forbidden */
export const checkSent = (access: Access, sent: NewFields, place: Place): void => {
  checkCreate(access, place, isPlain(access.rights.create) ? sent : undefined);
  checkFields(access, sent, place, isPlain);
};

/**
 * What they say of its values, once it has all that the server adds.
 * @param sent has the fields that the caller gives @throws ApiError unauthenticated, forbidden
 */
export const checkFilled = (
  access: Access,
  { has }: Pick<NewFields, 'has'>,
  filled: NewRecord,
  place: Place,
): void => {
  if (!access.permissions.hasConditions) return;
  const made = { ...filled, has };
  if (hasConditions(access.rights.create)) checkCreate(access, place, made);
  checkFields(access, made, place, hasConditions);
};
