import { ApiError } from '@backlot/contract';
import { isPosition, isSystemField, pathProblem, type SystemField } from './fields.ts';
import type { Parameters } from './parameters.ts';
import { msOf } from './record-text.ts';

/** Contract section 4. */
const maxFields = 3;

export interface SortField {
  field: string;
  descending: boolean;
}

export interface Sort {
  /** Compared before the id. Empty where the primary key alone gives the order. */
  fields: SortField[];
  /** Ties are broken by id, in the direction of the last field; so the mirror of a sort is exact. */
  idDescending: boolean;
}

const refuse = (message: string): never => {
  throw new ApiError('invalid_sort', `"sort": ${message}`);
};

const parseField = (text: string): SortField => {
  const descending = text.startsWith('-');
  const field = descending ? text.slice(1) : text;
  if (field === '') return refuse('needs field names, as in "-createdAt" or "status,-price".');
  const problem = pathProblem(field);
  return problem ? refuse(`the field ${JSON.stringify(field)} ${problem}.`) : { field, descending };
};

/**
 * Reads the query parameter `sort`.
 * @throws ApiError invalid_sort
 */
export const parseSort = (text = '-createdAt'): Sort => {
  const fields = text.split(',').map((each) => parseField(each.trim()));
  if (fields.length > maxFields) refuse(`has more than ${maxFields} fields.`);
  const byId = fields.findIndex(({ field }) => field === 'id');
  const deciding = byId === -1 ? fields : fields.slice(0, byId + 1);
  const last = deciding.at(-1);
  // The time of creation is in the id: at the end, where ties are broken by id, the id is the order.
  const isIdOrder = last?.field === 'id' || last?.field === 'createdAt';
  return {
    fields: isIdOrder ? deciding.slice(0, -1) : deciding,
    idDescending: last?.descending ?? true,
  };
};

const systemKey = (field: SystemField): string => {
  switch (field) {
    case 'id':
      return 'to_jsonb(id::text)';
    case 'ownerId':
      return `coalesce(to_jsonb(owner_id::text), 'null')`;
    case 'createdAt':
      return `to_jsonb(${msOf('created_at')})`;
    case 'updatedAt':
      return `to_jsonb(${msOf('updated_at')})`;
  }
};

/** A segment is a key, or in an array a position; other segments reach nothing in an array. */
const dataKey = (field: string, parameters: Parameters): string => {
  const value = field.split('.').reduce((sql, segment) => {
    const step = parameters.add(segment, 'text');
    return isPosition(segment) ? `(${sql} #> ARRAY[${step}])` : `(${sql} -> ${step})`;
  }, 'data');
  return `sort_key(${value})`;
};

/** The jsonb whose order is the field's order, over the columns of `records`. */
export const sortKeySql = ({ field }: SortField, parameters: Parameters): string =>
  isSystemField(field) ? systemKey(field) : dataKey(field, parameters);

export const directionSql = (descending: boolean): string => (descending ? 'DESC' : 'ASC');

/** Where a page ended: a placeholder for each sort key, and one for the id. */
export interface Position {
  keys: string[];
  id: string;
}

/** True for rows that come after the position. */
export const afterSql = (sort: Sort, keys: readonly string[], position: Position): string => {
  const sign = (descending: boolean) => (descending ? '<' : '>');
  let after = `id ${sign(sort.idDescending)} ${position.id}`;
  for (const [i, field] of [...sort.fields.entries()].reverse()) {
    const key = keys[i];
    const value = position.keys[i];
    after = `(${key} ${sign(field.descending)} ${value} OR (${key} = ${value} AND ${after}))`;
  }
  return after;
};
