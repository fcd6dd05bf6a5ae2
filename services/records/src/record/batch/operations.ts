import { ApiError } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import type { Access } from '../../collections/access.ts';
import type { Collection } from '../../collections/collections.ts';
import { touchedFields } from '../../collections/stored/claims.ts';
import type { ResultCheck, Update } from '../change/change.ts';
import { mostSideBytes } from '../change/side-effects.ts';
import { type Claim, toClaims } from '../claims/claim-turns.ts';
import type { CheckedData } from '../data.ts';
import { changesField, type Patch } from '../patch.ts';
import type { Totals } from '../quota/totals.ts';

export interface BatchOperations {
  create: readonly CheckedData[];
  update: readonly { id: string; patch: Patch }[];
  delete: readonly string[];
}

/** With what the schema says of records that are there, by their ids. */
export interface CheckedOperations extends BatchOperations {
  resultChecks: ReadonlyMap<string, ResultCheck>;
}

export interface Written {
  id: string;
  updatedAt: string;
}

export interface BatchResult {
  create: Written[];
  update: Written[];
  delete: { id: string }[];
}

export interface BatchTarget {
  project: Identity['project'];
  collection: Collection;
  access: Access;
}

/** The error with the operation that it is about, such as `update[3]`, before its message. */
export const inOperation = (operation: string, error: unknown): unknown => {
  if (!(error instanceof ApiError)) return error;
  const { code, message, hint, problems, cause } = error;
  return new ApiError(code, `${operation}: ${message}`, {
    cause,
    ...(hint && { hint }),
    ...(problems && { problems }),
  });
};

/** All updates of a batch as one change, of records that are locked. */
export const patching = (
  collection: Collection,
  updates: BatchOperations['update'],
  now: number,
): Update => {
  const names = (field: string) => updates.some(({ patch }) => changesField(patch)(field));
  const edits = updates.map(({ id, patch: { dataJson, unset, inc } }) => ({
    id,
    dataJson,
    unset,
    inc,
  }));
  return {
    kind: 'update',
    how: 'merge',
    collection,
    edits,
    names,
    isChanged: names,
    now,
    maxBytes: collection.limits?.maxBytes,
    claimsLater: true,
  };
};

/** What the quota counts, at most. */
export const mostGrowth = (collection: Collection, { create, update }: BatchOperations): Totals => {
  const creating = { kind: 'create', collection } as const;
  const created = create.map(({ sizeBytes }) => sizeBytes + mostSideBytes(creating, sizeBytes));
  const grown = update.map(({ patch }) => {
    const { maxGrowthBytes } = patch;
    const changing = { kind: 'update', collection, isChanged: changesField(patch) } as const;
    return maxGrowthBytes + mostSideBytes(changing, maxGrowthBytes);
  });
  const bytes = [...created, ...grown].reduce((total, value) => total + value, 0);
  return { records: create.length, bytes };
};

export const claimedBy = (
  collection: Collection,
  { userId }: Access,
  { create, update }: BatchOperations,
): Claim[] => [
  ...create.flatMap(({ at, groupId, given }) =>
    toClaims(collection.unique, { at, ownerId: given ? given.ownerId : userId, groupId }),
  ),
  ...update.flatMap(({ patch }) => {
    const changing = { kind: 'update', collection, isChanged: changesField(patch) } as const;
    return toClaims(touchedFields(changing), patch);
  }),
];
