import { type Fields, type Item, isObject } from '../../values.ts';
import { matches } from './matches.ts';

/** What fits. */
export interface Fitting {
  where?: Fields;
  mine?: boolean;
  group?: string;
  search?: string;
}

export interface SubscribeOptions extends Fitting {
  onError?: (error: Error) => void;
}

export interface Options extends SubscribeOptions {
  sort?: string;
  limit?: number;
  fields?: string;
  include?: string;
}

/** For the stream, which knows no groups. */
export const toWhere = ({ where = {}, mine }: Fitting, userId: string | null): Fields => {
  if (!mine) return where;
  const own = { ownerId: userId };
  return Object.keys(where).length === 0 ? own : { $and: [where, own] };
};

/** Whether a record belongs to a list; undefined where only the server knows. */
export const fits = (
  options: Fitting,
  userId: string | null,
  record: Item,
): boolean | undefined => {
  if (options.group !== undefined && record.groupId !== options.group) return false;
  const isFound = matches(toWhere(options, userId), record);
  return isFound && options.search !== undefined ? undefined : isFound;
};

const namesIn = (where: Fields): string[] =>
  Object.entries(where).flatMap(([name, operand]) =>
    name.startsWith('$') && Array.isArray(operand)
      ? operand.filter(isObject).flatMap(namesIn)
      : [name.split('.')[0] ?? ''],
  );

/** What is asked for besides, to keep a list true that shows `fields` alone. */
export const fieldsToAsk = ({ fields, sort = '', where = {} }: Options): string | undefined => {
  if (fields === undefined) return undefined;
  const sorted = sort.split(',').map((name) => name.trim().replace(/^-/, '').split('.')[0] ?? '');
  const names = [...fields.split(','), ...sorted, ...namesIn(where), 'ownerId', 'updatedAt'];
  return [...new Set(names.map((name) => name.trim()).filter((name) => name !== ''))].join(',');
};

/** The record as `fields` has it. */
export const show = (record: Item, fields: string | undefined): Item => {
  if (fields === undefined) return record;
  const names = new Set(fields.split(',').map((name) => name.trim()));
  const shown = Object.entries(record).filter(([name]) => name === 'id' || names.has(name));
  return Object.fromEntries(shown) as Item;
};
