import type { Collection } from './collections.ts';
import { Parameters } from './parameters.ts';

/** Every statement on records begins with these two values and has this condition. */
export const inCollection = 'project_id = $1 AND coll_id = $2';
export const startParameters = (
  { projectNumber, id }: Collection,
  ...values: unknown[]
): Parameters => new Parameters([projectNumber, id, ...values]);

export const all = (conditions: readonly (string | undefined)[]): string =>
  conditions.filter((each) => each !== undefined).join(' AND ');
