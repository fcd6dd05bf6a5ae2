import { type AccessPreset, ApiError } from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import { LRUCache } from 'lru-cache';
import { accessOf, checkCreate, passesPresets } from './access.ts';
import { isoText } from './record-text.ts';

/** A collection as the statements on its records need it. */
export interface Collection {
  projectNumber: number;
  id: number;
  name: string;
  access: AccessPreset;
}

export interface CollectionSummary {
  name: string;
  access: AccessPreset;
  count: number;
  createdAt: string;
}

export interface Collections {
  /** Null where nobody has created it. May be up to 5 seconds old. */
  find(projectNumber: number, name: string): Promise<Collection | null>;
  /**
   * Creates the collection unless it is there, if this caller may, with the project's default access.
   * @throws ApiError unauthenticated, forbidden, collection_limit, collection_creation_off
   */
  findOrCreate(identity: Identity, name: string): Promise<Collection>;
  list(projectNumber: number): Promise<CollectionSummary[]>;
  /** Creates it where needed. @throws ApiError collection_limit */
  setAccess(projectNumber: number, name: string, access: AccessPreset): Promise<CollectionSummary>;
  /** Drops what is remembered of a collection. */
  forget(projectNumber: number, name: string): void;
}

export interface CollectionsDeps {
  database: Database;
  outbox: Outbox;
  /** Epoch milliseconds. */
  now: () => number;
}

/** Contract section 4. */
export const maxCollections = 100;

const cacheTtlMs = 5000;
const cacheEntries = 10_000;
const defaultAccess: AccessPreset = 'shared';

const summary = `name, access, ${isoText('created_at')} AS "createdAt",
  (SELECT count(*) FROM records WHERE records.project_id = collections.project_id AND records.coll_id = collections.coll_id) AS count`;

export const createCollections = ({ database, outbox, now }: CollectionsDeps): Collections => {
  const cache = new LRUCache<string, Collection>({
    max: cacheEntries,
    ttl: cacheTtlMs,
    ttlResolution: 0,
    perf: { now },
  });
  const cacheKey = (projectNumber: number, name: string) => `${projectNumber}/${name}`;

  /** What an open transaction has created is remembered when it has committed, and not before. */
  const remember = (collection: Collection) =>
    database.afterCommit(() => {
      cache.set(cacheKey(collection.projectNumber, collection.name), collection);
    });

  const read = async (projectNumber: number, name: string): Promise<Collection | null> => {
    const [row] = await database.read(
      'records_collection',
      'SELECT coll_id, access FROM collections WHERE project_id = $1 AND name = $2',
      [projectNumber, name],
    );
    if (!row) return null;
    return { projectNumber, id: Number(row[0]), name, access: row[1] as AccessPreset };
  };

  /** Ids are 1 to the limit without gaps, under a lock, so that the limit is exact. */
  const insert = (projectNumber: number, name: string, access: AccessPreset) =>
    database.transaction(async () => {
      await database.query(`SELECT pg_advisory_xact_lock(hashtextextended('collections', $1))`, [
        projectNumber,
      ]);
      const present = await read(projectNumber, name);
      if (present) return present;
      const [row] = await database.query<{ id: number }>(
        `INSERT INTO collections (project_id, coll_id, name, access, created_at)
         SELECT $1, coalesce(max(coll_id), 0) + 1, $2, $3, $4
         FROM collections WHERE project_id = $1 HAVING count(*) < $5
         RETURNING coll_id AS id`,
        [projectNumber, name, access, new Date(now()), maxCollections],
      );
      if (!row) {
        throw new ApiError(
          'collection_limit',
          `A project has at most ${maxCollections} collections.`,
        );
      }
      await outbox.append('collection.changed', { projectNumber, name });
      return { projectNumber, id: row.id, name, access };
    });

  const find = async (projectNumber: number, name: string) => {
    const remembered = cache.get(cacheKey(projectNumber, name));
    if (remembered) return remembered;
    const collection = await read(projectNumber, name);
    if (collection) remember(collection);
    return collection;
  };

  const forget = (projectNumber: number, name: string) => {
    cache.delete(cacheKey(projectNumber, name));
  };

  return {
    find,
    forget,
    async findOrCreate(identity, name) {
      const { number: projectNumber, settings } = identity.project;
      const present = await find(projectNumber, name);
      if (present) return present;
      const access = (settings.defaultAccess as AccessPreset | undefined) ?? defaultAccess;
      checkCreate(accessOf(access, identity));
      if (settings.createCollections === false && !passesPresets(identity)) {
        throw new ApiError(
          'collection_creation_off',
          `There is no collection "${name}", and this project creates none by itself.`,
        );
      }
      const created = await insert(projectNumber, name, access);
      remember(created);
      return created;
    },
    list: (projectNumber) =>
      database.query<CollectionSummary>(
        `SELECT ${summary} FROM collections WHERE project_id = $1 ORDER BY name`,
        [projectNumber],
      ),
    setAccess: (projectNumber, name, access) =>
      database.transaction(async () => {
        await insert(projectNumber, name, access);
        const [row] = await database.query<CollectionSummary>(
          `UPDATE collections SET access = $3 WHERE project_id = $1 AND name = $2 RETURNING ${summary}`,
          [projectNumber, name, access],
        );
        if (!row) throw new ApiError('not_found', 'There is no such collection.');
        await outbox.append('collection.changed', { projectNumber, name });
        database.afterCommit(() => forget(projectNumber, name));
        return row;
      }),
  };
};
