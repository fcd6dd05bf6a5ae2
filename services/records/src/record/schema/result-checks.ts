import { SchemaCheck } from '../../schema/check.ts';
import type { ValueSchema } from '../../schema/compiled-schema.ts';
import { messages } from '../../schema/messages.ts';
import { type SchemaPlace, schemaMismatch } from '../../schema/problems.ts';
import type { ResultCheck } from '../change/change.ts';

/** @throws ApiError schema_mismatch */
export const refuseProblems = (check: SchemaCheck, place: SchemaPlace): void => {
  if (check.problems.length > 0) throw schemaMismatch(check.problems, place);
};

/** Of fields that follow from what the record has: sums, and objects that are merged. @param operation of a batch */
export const openCheck = (
  root: ValueSchema,
  fields: readonly string[],
  place: SchemaPlace,
  operation?: string,
): ResultCheck | undefined =>
  fields.length === 0
    ? undefined
    : {
        fields,
        check(result) {
          const check = new SchemaCheck(operation === undefined ? {} : { operation });
          check.fields(root, result);
          refuseProblems(check, place);
        },
      };

/** Of fields that have to be there, and stay where the record's rules keep them from the caller. */
export const keptCheck = (
  fields: readonly string[],
  place: SchemaPlace,
): ResultCheck | undefined =>
  fields.length === 0
    ? undefined
    : {
        fields,
        check(result) {
          const check = new SchemaCheck();
          for (const field of fields)
            if (!Object.hasOwn(result, field)) check.add('required', messages.required(), field);
          refuseProblems(check, place);
        },
      };
