import { ApiError, type CollectionAccess } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import { formatAccess } from '../rules.ts';
import type { Collection, FoundCollections } from './found-collections.ts';
import { type MadeBy, makePlace, type PlaceLimits } from './places.ts';
import { lockCollections, nextCollectionId } from './removal.ts';

interface MakingDeps {
  database: Database;
  found: FoundCollections;
  places: PlaceLimits;
  now: () => number;
}

/** Those that are there already stay as they are. @throws ApiError collection_limit */
export type MakeCollection = (
  project: Identity['project'],
  name: string,
  access: CollectionAccess,
  madeBy: MadeBy,
  /** Of a new one; the next one unless stated. @throws ApiError conflict where another one has it */
  number?: number,
) => Promise<Collection>;

export const createMakeCollection = ({
  database,
  found,
  places,
  now,
}: MakingDeps): MakeCollection => {
  /** One that gave its place up comes back with what a write that was under way has brought. */
  const bringBack = async (projectNumber: number, name: string): Promise<Collection | null> => {
    await database.query(
      `UPDATE collections SET name = former_name, former_name = NULL, deleted_at = NULL, epoch = epoch + 1
       WHERE project_id = $1 AND former_name = $2 AND deleted_at IS NOT NULL`,
      [projectNumber, name],
    );
    return found.read(projectNumber, name);
  };

  /** Under a lock, so that the limit is exact. */
  return (project, name, access, madeBy, number) =>
    database.transaction(async () => {
      const projectNumber = project.number;
      await lockCollections(database, projectNumber);
      const existing = await found.read(projectNumber, name);
      if (existing) return existing;
      await makePlace(database, project, madeBy, { limits: places, nowMs: now() });
      await found.tellChanged(projectNumber, name);
      const back = await bringBack(projectNumber, name);
      if (back) return back;
      const createdMs = now();
      const id = number ?? (await nextCollectionId(database, projectNumber));
      const made = await database.query(
        `INSERT INTO collections (project_id, coll_id, name, access, created_at, counted_at, made_by, is_set)
         VALUES ($1, $2, $3, $4, $5, now(), $6, $6::text IS NULL) ON CONFLICT DO NOTHING RETURNING coll_id`,
        [projectNumber, id, name, formatAccess(access), new Date(createdMs), madeBy],
      );
      if (made.length === 0)
        throw new ApiError('conflict', `Two collections have the number ${id}.`);
      return { projectNumber, id, name, access, epoch: 1, slots: [], unique: [], createdMs };
    });
};
