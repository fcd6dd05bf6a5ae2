import type { CollectionAccess, RouteResponse, recordRoutes } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { YieldSlot } from '@backlot/fair-shares';
import { type Access, writePolicySql } from '../collections/access.ts';
import type { AccessChecks } from '../collections/access-check.ts';
import type { Collection } from '../collections/collections.ts';
import { limitedFieldsSql } from '../collections/field-rules.ts';
import { rowPolicySql } from '../collections/terms/policy-sql.ts';
import type { CallerKind } from '../collections/terms/terms.ts';
import { sampleIds } from '../shape/sample.ts';
import { type CollectionKey, inCollection, type Parameters, startParameters } from '../sql.ts';

export type TriedAccess = Omit<RouteResponse<typeof recordRoutes.tryAccess>, 'as'>;
type Outcome = TriedAccess['items'][number]['inForce'];

export interface AccessTrial {
  collection: Collection;
  /** The rules to try. */
  access: CollectionAccess;
  /** What the caller may do by them, and by those in force. */
  tried: Access;
  inForce: Access;
  caller: CallerKind;
  /** Records of the sample. */
  limit: number;
}

/** Documents that rules on values may have to read, in all. */
const maxBytes = 16 * 1024 * 1024;

const isTrue = (condition: string | undefined) =>
  condition === undefined ? 'true' : `(${condition}) IS TRUE`;

/** By the same conditions as a read or a write of each record. */
const outcomesSql = (access: Access, parameters: Parameters): string => {
  const { hidden, frozen } = access.fields;
  const read = rowPolicySql(access.rights.read, access, parameters);
  const change = writePolicySql(access, 'change', parameters);
  const erase = writePolicySql(access, 'delete', parameters);
  return `SELECT id::text, ${isTrue(read)} AS read, ${isTrue(change)} AS change, ${isTrue(erase)} AS delete,
      ${limitedFieldsSql(access, hidden, parameters)} AS hidden,
      ${limitedFieldsSql(access, [...hidden, ...frozen], parameters)} AS frozen
    FROM records WHERE ${inCollection} AND id = ANY ($3::uuid[])
    ORDER BY id DESC`;
};

const readOutcomes = async (
  database: Database,
  collection: CollectionKey,
  access: Access,
  ids: readonly string[],
): Promise<(Outcome & { id: string })[]> => {
  const parameters = startParameters(collection, ids);
  const rows = await database.scan<Outcome & { id: string }>(
    outcomesSql(access, parameters),
    parameters.values,
  );
  return rows.map(({ frozen, ...row }) => ({ ...row, frozen: [...new Set(frozen)] }));
};

const count = (items: readonly Outcome[], does: 'read' | 'change' | 'delete') =>
  items.filter((item) => item[does]).length;

export type AccessTrials = ReturnType<typeof createAccessTrials>;

/** What rules would do, on a sample of the records; nothing is changed. */
export const createAccessTrials =
  (database: Database, checks: AccessChecks) =>
  async (trial: AccessTrial, yieldSlot: YieldSlot): Promise<TriedAccess> => {
    const { collection, access, tried, inForce, caller, limit } = trial;
    const bounds = { records: limit, bytes: maxBytes };
    const ids = await sampleIds(database, collection, bounds, yieldSlot);
    await yieldSlot();
    const items = await readOutcomes(database, collection, tried, ids);
    await yieldSlot();
    const now = await readOutcomes(database, collection, inForce, ids);
    const before = new Map(now.map(({ id, ...outcome }) => [id, outcome]));
    const { read, create, change, ...others } = await checks.check({
      collection: { ...collection, access },
      access: tried,
      caller,
      recordId: undefined,
    });
    const both = items.flatMap((item) => {
      const known = before.get(item.id);
      return known ? [{ ...item, inForce: known }] : [];
    });
    return {
      collection: collection.name,
      access,
      rules: { read, create, change, delete: others.delete, count: others.count },
      sampled: both.length,
      readable: count(both, 'read'),
      changeable: count(both, 'change'),
      deletable: count(both, 'delete'),
      items: both,
    };
  };
