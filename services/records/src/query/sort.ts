import { ApiError } from '@backlot/contract';
import { isPosition, isSystemField, pathProblem, type SystemField } from '../fields.ts';
import { epochMsSql, type Parameters } from '../sql.ts';

/** docs/api.md, "Lists". */
const maxFields = 3;

export interface SortField {
  field: string;
  descending: boolean;
}

export interface Sort {
  /** Compared before the id. Empty where the order is that of the primary key. */
  fields: SortField[];
  /** Ties are broken by id, in the direction of the last field; so the mirror of a sort is exact. */
  idDescending: boolean;
}

const refuse = (message: string): never => {
  throw new ApiError('invalid_sort', `"sort": ${message}`);
};

/** `price:desc` and `price desc`, as others write it, and `{"price":-1}`. */
const otherForms =
  /^(?<field>[^\s:{[]+)(?:\s*:\s*|\s+)(?<word>asc|desc|ascending|descending|1|-1)$/i;

const refuseOtherForms = (text: string): void => {
  const { field, word } = otherForms.exec(text)?.groups ?? {};
  if (field !== undefined && word !== undefined) {
    const sign = /^(-1|desc)/i.test(word) ? '-' : '';
    refuse(`${JSON.stringify(text)} is not a field; send sort=${sign}${field}.`);
  }
  if (/^\w+\(.*\)$/.test(text))
    refuse(
      `${JSON.stringify(text.slice(0, 100))} is no field, and functions are not there; for a random order keep a random number in a field.`,
    );
  if (/^[{[]/.test(text))
    refuse('is no JSON; send the name of a field, "-" before it for descending: sort=-price.');
};

const parseField = (text: string): SortField => {
  refuseOtherForms(text);
  const descending = text.startsWith('-');
  const field = descending ? text.slice(1) : text;
  if (field === '') return refuse('needs field names, as in "-createdAt" or "status,-price".');
  const problem = pathProblem(field);
  return problem ? refuse(`the field ${JSON.stringify(field)} ${problem}.`) : { field, descending };
};

const readSort = (text: string): Sort => {
  const fields = text.split(',').map((field) => parseField(field.trim()));
  if (fields.length > maxFields) refuse(`has more than ${maxFields} fields.`);
  const byId = fields.findIndex(({ field }) => field === 'id');
  const used = byId === -1 ? fields : fields.slice(0, byId + 1);
  const last = used.at(-1);
  // The time of creation is in the id: at the end, where ties are broken by id, the id is the order.
  const isIdOrder = last?.field === 'id' || last?.field === 'createdAt';
  return {
    fields: isIdOrder ? used.slice(0, -1) : used,
    idDescending: last?.descending ?? true,
  };
};

const newestFirst = readSort('-createdAt');

/**
 * Reads the query parameter `sort`.
 * @throws ApiError invalid_sort
 */
export const parseSort = (text?: string): Sort =>
  text === undefined ? newestFirst : readSort(text);

const systemKeySql = (field: SystemField): string => {
  switch (field) {
    case 'id':
      return 'to_jsonb(id::text)';
    case 'ownerId':
      return `coalesce(to_jsonb(owner_id::text), 'null')`;
    case 'createdAt':
      return `to_jsonb(${epochMsSql('created_at')})`;
    case 'updatedAt':
      return `to_jsonb(${epochMsSql('updated_at')})`;
  }
};

/** A segment is a key, or in an array a position; other segments match nothing in an array. */
export const dataValueSql = (field: string, parameters: Parameters): string =>
  field.split('.').reduce((sql, segment) => {
    const step = parameters.add(segment, 'text');
    return isPosition(segment) ? `(${sql} #> ARRAY[${step}])` : `(${sql} -> ${step})`;
  }, 'data');

const dataKeySql = (field: string, parameters: Parameters): string =>
  `records.sort_key(${dataValueSql(field, parameters)})`;

/** The jsonb whose order is the field's order, over the columns of `records`. */
export const sortKeySql = ({ field }: SortField, parameters: Parameters): string =>
  isSystemField(field) ? systemKeySql(field) : dataKeySql(field, parameters);

export const directionSql = (descending: boolean): string => (descending ? 'DESC' : 'ASC');

/** Where a page ended: an expression for each sort key, and one for the id. */
export interface PositionSql {
  keys: string[];
  id: string;
}

export const afterSql = (sort: Sort, keys: readonly string[], position: PositionSql): string => {
  const sign = (descending: boolean) => (descending ? '<' : '>');
  let after = `id ${sign(sort.idDescending)} ${position.id}`;
  for (const [i, field] of [...sort.fields.entries()].reverse()) {
    const key = keys[i];
    const value = position.keys[i];
    after = `(${key} ${sign(field.descending)} ${value} OR (${key} = ${value} AND ${after}))`;
  }
  return after;
};
