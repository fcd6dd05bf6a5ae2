import type { JsonPart, JsonParts } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import type { Reader } from '../../reader.ts';
import { type IncludedField, type Includes, parseInclude, refuseLargeInclude } from './include.ts';
import { type JsonRecord, parseFields, showFields, showPartFields } from './shown-fields.ts';

export interface Shown {
  fields: ReadonlySet<string> | undefined;
  include: readonly IncludedField[];
}

/**
 * Reads the query parameters `fields` and `include`; an included field is shown.
 * @throws ApiError invalid_query
 */
export const parseShown = (query: {
  fields?: string | undefined;
  include?: string | undefined;
}): Shown => {
  const fields = parseFields(query.fields);
  const include = parseInclude(query.include);
  const named = include.map(({ field }) => field);
  return { fields: fields && new Set([...fields, ...named]), include };
};

export interface ShownRecords {
  /** Of a JSON array, or of the parts of what is inside of one. */
  list<Items extends string | JsonParts>(
    items: Items,
    shown: Shown,
    identity: Identity,
    reader: Reader,
  ): Promise<string | Items>;
  one(json: JsonPart, shown: Shown, identity: Identity, reader: Reader): Promise<JsonPart>;
}

export const createShownRecords = (includes: Includes): ShownRecords => {
  const show = async (
    records: readonly JsonRecord[],
    { fields, include }: Shown,
    identity: Identity,
    reader: Reader,
  ): Promise<readonly JsonRecord[]> => {
    const cut = fields ? records.map((record) => showFields(record, fields)) : records;
    return include.length > 0 ? includes.into(cut, include, identity, reader) : cut;
  };
  const isWhole = ({ fields, include }: Shown) => fields === undefined && include.length === 0;

  return {
    async list(items, shown, identity, reader) {
      if (isWhole(shown)) return items;
      if (typeof items === 'string')
        return JSON.stringify(await show(JSON.parse(items), shown, identity, reader));
      if (shown.include.length > 0) {
        items.close();
        return refuseLargeInclude();
      }
      return (shown.fields ? showPartFields(items, shown.fields) : items) as typeof items;
    },
    async one(json, shown, identity, reader) {
      if (isWhole(shown)) return json;
      return JSON.stringify(
        (await show([JSON.parse(json.toString())], shown, identity, reader))[0],
      );
    },
  };
};
