import { ApiError } from '@backlot/contract';
import type { Access } from '../collections/access.ts';
import type { WriteAction } from '../collections/forbidden.ts';
import { rowPolicySql } from '../collections/terms/policy-sql.ts';
import { isSystemField, keyProblem } from '../fields.ts';
import type { Parameters } from '../sql.ts';
import { checkData, type Data } from './data.ts';

export interface Patch {
  value: Data;
  /** JSON of them. */
  dataJson: string;
  has(field: string): boolean;
  /** What it sets at a path; undefined for what follows from the record too. */
  at(path: readonly string[]): unknown;
  /** Whether objects are merged at all levels, as RFC 7396 says, and null removes. */
  isDeep: boolean;
  unset: readonly string[];
  /** Added to the numbers that are there; a missing field counts as 0. */
  inc: Readonly<Record<string, number>>;
  maxGrowthBytes: number;
}

interface PatchBody {
  data?: unknown;
  unset?: readonly string[] | undefined;
  inc?: Readonly<Record<string, number>> | undefined;
}

/** Of a sum: no double has more digits as PostgreSQL writes it. */
const maxNumberBytes = 400;

const refuse = (message: string): never => {
  throw new ApiError('invalid_data', message);
};

/**
 * Checks the fields by name; their types are the contract's.
 * @throws ApiError invalid_data, naming the field
 */
export const parsePatch = (
  { data = {}, unset = [], inc = {} }: PatchBody,
  isDeep = false,
): Patch => {
  const { value, json, sizeBytes, has, at } = checkData(data);
  const changedFields = new Set(Object.keys(data as object));
  const others = [
    ...[...new Set(unset)].map((field) => ['unset', field] as const),
    ...Object.keys(inc).map((field) => ['inc', field] as const),
  ];
  for (const [part, field] of others) {
    const problem = isSystemField(field) ? 'can not be changed' : keyProblem(field);
    if (problem) refuse(`${part}: the field ${JSON.stringify(field.slice(0, 60))} ${problem}.`);
    if (changedFields.has(field))
      refuse(`The field ${JSON.stringify(field.slice(0, 60))} is changed more than once.`);
    changedFields.add(field);
  }
  const sumsBytes = Object.keys(inc).reduce(
    (sum, field) => sum + Buffer.byteLength(JSON.stringify(field)) + maxNumberBytes,
    0,
  );
  const knownAt: Patch['at'] = (path) => {
    const given = at(path);
    // Merged at all levels, an object's fields join those that the record has.
    return isDeep && typeof given === 'object' ? undefined : given;
  };
  return {
    value,
    dataJson: json,
    has,
    at: knownAt,
    isDeep,
    unset,
    inc,
    maxGrowthBytes: sizeBytes + sumsBytes,
  };
};

/** Whether a patch sets, removes or increases the field of the document's first level. */
export const changesField =
  ({ has, unset, inc }: Patch) =>
  (field: string): boolean =>
    has(field) || Object.hasOwn(inc, field) || unset.includes(field);

/** Whether a patch is one that a rule for `count` may admit: it holds `inc` alone. */
export const patchAction = (
  { compiled }: Access,
  { dataJson, unset, inc }: Pick<Patch, 'dataJson' | 'unset' | 'inc'>,
): Extract<WriteAction, 'change' | 'count'> => {
  const addsOnly = dataJson === '{}' && unset.length === 0 && Object.keys(inc).length > 0;
  return compiled.rules.count && addsOnly ? 'count' : 'change';
};

/** A field of `inc` that is no number in the record, where that is not for the caller to change; else null. */
export const uncountableSql = (access: Access, inc: string, parameters: Parameters): string => {
  const mayChange = rowPolicySql(access.rights.change, access, parameters) ?? 'true';
  return `CASE WHEN ${mayChange} THEN NULL ELSE (SELECT field FROM jsonb_object_keys(${inc}) field
    WHERE jsonb_typeof(records.data -> field) IS DISTINCT FROM 'number' LIMIT 1) END`;
};

export const mergedSql = (data: string): string => `records.data || ${data}`;

/** The fields of `inc` with their sums: exact, then rounded to the nearest double, so that 0.1 and 0.2 make 0.3. */
export const sumsSql = (inc: string): string => `records.sums(records.data, ${inc})`;

/** Holds where a field of `inc` is there and no number. */
export const noNumberSql = (inc: string): string =>
  `EXISTS (SELECT FROM jsonb_object_keys(${inc}) field WHERE jsonb_typeof(records.data -> field) <> 'number')`;
