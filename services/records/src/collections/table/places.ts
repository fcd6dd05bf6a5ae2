import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import { bypassesRules } from '../access.ts';
import { setAside } from './removal.ts';

/** docs/api.md, "Records". */
export const maxCollections = 100;
/** How many collections of a project may be made without its own callers; what users make counts both. */
export interface PlaceLimits {
  byVisitors: number;
  byUsersAndVisitors: number;
}

export const placeLimits: PlaceLimits = { byVisitors: 10, byUsersAndVisitors: 50 };

export type MadeBy = 'visitor' | 'user' | null;

export const toMaker = (identity: Identity): MadeBy => {
  if (bypassesRules(identity)) return null;
  return identity.caller === 'user' ? 'user' : 'visitor';
};

/** A younger one may have no records because the first is on its way: a call takes 30 seconds at most. */
const leastAgeMs = 60_000;

interface Bound {
  most: number;
  /** Whose collections count; undefined: all. */
  makers: readonly string[] | undefined;
  message: string;
}

const all: Bound = {
  most: maxCollections,
  makers: undefined,
  message: `A project has at most ${maxCollections} collections.`,
};

const boundsFor = (maker: MadeBy, limits: PlaceLimits): readonly Bound[] => {
  if (maker === null) return [all];
  const ofUsers: Bound = {
    most: limits.byUsersAndVisitors,
    makers: ['user', 'visitor'],
    message: `Users and visitors make at most ${limits.byUsersAndVisitors} collections of a project.`,
  };
  const ofVisitors: Bound = {
    most: limits.byVisitors,
    makers: ['visitor'],
    message: `Visitors without an account make at most ${limits.byVisitors} collections of a project.`,
  };
  return maker === 'user' ? [all, ofUsers] : [all, ofUsers, ofVisitors];
};

/**
 * Sees to it that the project has a place for a new collection, in the transaction that has locked its collections: one
 * without records and settings of its own gives its own up. @throws ApiError collection_limit
 */
export const makePlace = async (
  database: Database,
  project: { id: string; number: number },
  maker: MadeBy,
  { limits, nowMs }: { limits: PlaceLimits; nowMs: number },
): Promise<void> => {
  const counts = await database.query<{ made_by: MadeBy; count: number }>(
    `SELECT made_by, count(*) AS count FROM collections
     WHERE project_id = $1 AND deleted_at IS NULL GROUP BY made_by`,
    [project.number],
  );
  const taken = ({ makers }: Bound) =>
    counts
      .filter(({ made_by: by }) => makers === undefined || (by !== null && makers.includes(by)))
      .reduce((sum, { count }) => sum + Number(count), 0);
  const full = boundsFor(maker, limits).findLast((bound) => taken(bound) >= bound.most);
  if (!full) return;
  const [unused] = await database.query<{ id: number; name: string }>(
    `SELECT coll_id AS id, name FROM collections
     WHERE project_id = $1 AND deleted_at IS NULL AND NOT is_set AND created_at < $2
       AND ($3::text[] IS NULL OR made_by = ANY ($3))
       AND NOT EXISTS (SELECT FROM records WHERE records.project_id = $1 AND records.coll_id = collections.coll_id)
     ORDER BY created_at LIMIT 1`,
    [project.number, new Date(nowMs - leastAgeMs), full.makers ?? null],
  );
  if (unused && (await setAside(database, { projectNumber: project.number, ...unused }, 'unused')))
    return;
  throw new ApiError('collection_limit', full.message, {
    hint: `The project’s owner makes more by PUT /api/platform/projects/${project.id}/collections/<name>, and deletes one with its records by DELETE of the same address.`,
  });
};
