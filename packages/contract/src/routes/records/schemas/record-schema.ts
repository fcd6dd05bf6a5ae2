import { jsonObject } from '../../../schemas.ts';

/** Of the schema of a collection, as JSON: what a process keeps of each is bounded. */
const maxSchemaBytes = 16 * 1024;
/** Two for each level of a record, and values of `enum` and `default`. */
const maxSchemaLevels = 64;

/** Which keywords hold is the record service's rule. */
export const recordSchema = jsonObject(maxSchemaBytes, maxSchemaLevels).describe(
  'JSON Schema 2020-12, of which docs/api.md, "Schemas", names what holds',
);
export type RecordSchema = Record<string, unknown>;
