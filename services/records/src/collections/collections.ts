import {
  type AccessPreset,
  ApiError,
  type CollectionAccess,
  type EventPayloads,
} from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import { LRUCache } from 'lru-cache';
import { type CollectionKey, isoTimeSql } from '../sql.ts';
import { bypassesRules, checkCreate, resolveAccess } from './access.ts';
import { adviceFor } from './advice.ts';
import type { PersonalKind } from './personal-values.ts';
import { type MadeBy, makePlace, makerOf, type PlaceLimits } from './places.ts';
import { emptyCollection, lockCollections, nextCollectionId, removeCollection } from './removal.ts';
import { formatAccess, parseAccess } from './rules.ts';
import type { UniqueField } from './stored/claims.ts';
import { missingIndexesSql, type WhyMissing } from './stored/missing-indexes.ts';
import type { CollectionSearch, SearchState } from './stored/search-words.ts';
import { type SearchChange, searchSql, setSearch, shownSearchSql } from './stored/searches.ts';
import type { Slot, SlotState } from './stored/slots.ts';
import {
  claimedFieldsSql,
  setUniqueFields,
  shownFieldsSql,
  type UniqueState,
} from './stored/unique-fields.ts';

/** A collection as the statements on its records need it. */
export interface Collection extends CollectionKey {
  name: string;
  access: CollectionAccess;
  /** Goes up whenever what writers have to fill in changes, or the table of the records. */
  epoch: number;
  slots: readonly Slot[];
  /** Those whose values writers claim. */
  unique: readonly UniqueField[];
  /** Undefined where it is off. */
  search?: CollectionSearch;
  /** Fields in which a write had what looks personal. */
  personal?: Readonly<Record<string, PersonalKind>>;
}

export interface CollectionSummary {
  name: string;
  /** What its owner should know of its access. */
  advice?: string;
  access: CollectionAccess;
  count: number;
  /** Of the documents as JSON, and of what is kept beside them. */
  sizeBytes: number;
  createdAt: string;
  indexes: CollectionIndex[];
  /** Fields that lists and counts of a day looked through records for, without an index. */
  missingIndexes: MissingIndex[];
  /** Fields of which no two records have the same value. */
  unique: ShownUniqueField[];
  /** Null where it is off; `fields` null: all. */
  search: { fields: string[] | null; state: SearchState | 'failed' } | null;
}

export interface ShownUniqueField {
  field: string;
  state: UniqueState;
  /** Two records with the same value, where that is why it has failed. */
  duplicates?: string[];
}

export interface CollectionIndex {
  field: string;
  state: SlotState;
  /** While it is building: the share of the records that it has. */
  progress?: number;
  /** What the building of one that has not begun waits for. */
  waitsFor?: 'writes' | 'turn';
  /** Whether the owner has asked for it. */
  isPinned: boolean;
  /** The lists and counts of a day for which it has made itself; null where the owner has asked first. */
  reason: { scans: number; scannedMs: number } | null;
  uses: number;
  lastUsedAt: string | null;
}

export interface MissingIndex {
  field: string;
  scans: number;
  scannedMs: number;
  state: WhyMissing;
}

export interface CollectionChanges {
  access?: CollectionAccess | undefined;
  /** The fields that are always indexed, in place of those from before. */
  indexes?: readonly string[] | undefined;
  /** The unique fields, in place of those from before. */
  unique?: readonly string[] | undefined;
  search?: SearchChange | undefined;
}

export interface Collections {
  /** Null where nobody has created it. The answer may be up to 5 seconds old. */
  find(projectNumber: number, name: string): Promise<Collection | null>;
  /**
   * Finds the collection, or creates it with the project's default access if this caller may.
   * @throws ApiError unauthenticated, forbidden, collection_limit, collection_creation_off
   */
  findOrCreate(identity: Identity, name: string): Promise<Collection>;
  /** The collection as it is now. @throws CollectionGone */
  refresh(collection: Collection): Promise<Collection>;
  list(projectNumber: number): Promise<CollectionSummary[]>;
  /**
   * Creates the collection when it is missing.
   * @throws ApiError collection_limit, invalid_body where a field can not be indexed, unique or searched, conflict
   */
  set(
    project: Identity['project'],
    name: string,
    changes: CollectionChanges,
  ): Promise<CollectionSummary>;
  /** @throws ApiError not_found, conflict where the name is another's */
  rename(project: Identity['project'], name: string, newName: string): Promise<CollectionSummary>;
  /**
   * Deletes the collection with its records, or these alone. Nobody finds them any more from then on; they are
   * erased in the background. Returns how many there were.
   * @throws ApiError not_found, conflict where too many are being erased
   */
  remove(
    project: Identity['project'],
    name: string,
    options: { keepsCollection: boolean },
  ): Promise<number>;
  /** Drops the cached entry: another process has changed the collection. */
  invalidate(projectNumber: number, name: string): void;
}

export interface CollectionsDeps {
  database: Database;
  outbox: Outbox<EventPayloads>;
  slots: {
    /** Indexes exactly these fields for as long as the owner wants. @throws ApiError invalid_body */
    pin(
      collection: { projectNumber: number; id: number; name: string },
      fields: readonly string[],
    ): Promise<void>;
  };
  places: PlaceLimits;
  /** Epoch milliseconds. */
  now: () => number;
}

/** It was deleted or renamed since the caller found it. */
export class CollectionGone extends ApiError {
  constructor() {
    super('not_found', 'There is no such collection.');
  }
}

/** Once more where the collection was deleted meanwhile: what creates records makes it anew. */
export const unlessGone = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CollectionGone) return work();
    throw error;
  }
};

const cacheTtlMs = 5000;
const cacheEntries = 10_000;
const defaultAccess: AccessPreset = 'shared';

/** Of the project `$1`. */
const collectionSql = `SELECT coll_id, access, epoch, (
    SELECT json_agg(json_build_object('number', slot, 'field', field, 'state', state, 'distinctShare', distinct_share))
    FROM slots WHERE slots.project_id = $1 AND slots.coll_id = collections.coll_id), ${claimedFieldsSql}, ${searchSql}, nullif(personal, '{}')
  FROM collections WHERE project_id = $1 AND name = $2`;

const indexesSql = `(SELECT coalesce(json_agg(json_build_object('field', field, 'state', state,
    'isPinned', is_pinned, 'reason', CASE WHEN scans IS NOT NULL THEN json_build_object('scans', scans, 'scannedMs', round(scanned_ms)) END,
    'filled', filled, 'waitsFor', CASE WHEN NOT is_known THEN 'writes' WHEN position IS NULL THEN 'turn' END, 'uses', uses, 'lastUsedAt', ${isoTimeSql('used_at')}) ORDER BY field), '[]')
  FROM slots WHERE slots.project_id = $1 AND slots.coll_id = collections.coll_id)`;

/** What writes have counted, folded or not; a sweep adds those from before they did. */
const countedSql = (folded: string, unfolded: string) =>
  `greatest(0, ${folded} + (SELECT coalesce(sum(${unfolded}), 0) FROM count_delta
    WHERE count_delta.project_id = $1 AND count_delta.coll_id = collections.coll_id))::int8`;

const summaryColumns = `name, access, personal, ${isoTimeSql('created_at')} AS "createdAt", ${indexesSql} AS indexes, ${missingIndexesSql} AS "missingIndexes", ${shownFieldsSql} AS "unique", ${shownSearchSql} AS search,
  ${countedSql('row_count', 'd')} AS count, ${countedSql('byte_count', 'bytes')} AS "sizeBytes"`;

type IndexRow = Omit<CollectionIndex, 'waitsFor'> & {
  filled: number;
  waitsFor: CollectionIndex['waitsFor'] | null;
};
type SummaryRow = Omit<CollectionSummary, 'access' | 'indexes'> & {
  personal: Record<string, PersonalKind>;
  access: string;
  indexes: IndexRow[];
};

const toIndex = ({ filled, waitsFor, ...index }: IndexRow, count: number): CollectionIndex => {
  if (index.state !== 'building') return index;
  const progress = Math.min(1, Math.floor((100 * filled) / Math.max(1, count)) / 100);
  return { ...index, progress, ...(waitsFor && { waitsFor }) };
};

const toSummary = ({ personal, ...row }: SummaryRow): CollectionSummary => {
  const access = parseAccess(row.access);
  const advice = adviceFor({ name: row.name, access, personal });
  const indexes = row.indexes.map((index) => toIndex(index, row.count));
  return { ...row, access, indexes, ...(advice !== undefined && { advice }) };
};

export const createCollections = ({
  database,
  outbox,
  slots,
  places,
  now,
}: CollectionsDeps): Collections => {
  const cache = new LRUCache<string, Collection>({
    max: cacheEntries,
    ttl: cacheTtlMs,
    ttlResolution: 0,
    perf: { now },
  });
  const cacheKey = (projectNumber: number, name: string) => `${projectNumber}/${name}`;

  const invalidate = (projectNumber: number, name: string) => {
    cache.delete(cacheKey(projectNumber, name));
  };

  /** Only once the surrounding transaction has committed: what is rolled back must not be cached. */
  const cacheAfterCommit = (collection: Collection) =>
    database.afterCommit(() => {
      cache.set(cacheKey(collection.projectNumber, collection.name), collection);
    });

  const read = async (projectNumber: number, name: string): Promise<Collection | null> => {
    const [row] = await database.read('records_collection', collectionSql, [projectNumber, name]);
    if (!row) return null;
    const [id, access, epoch, slots, unique, search, personal] = row;
    return {
      projectNumber,
      name,
      id: Number(id),
      access: parseAccess(access ?? ''),
      epoch: Number(epoch),
      slots: JSON.parse(slots ?? '[]') as Slot[],
      unique: JSON.parse(unique ?? '[]') as UniqueField[],
      ...(search && { search: JSON.parse(search) as CollectionSearch }),
      ...(personal && { personal: JSON.parse(personal) as Record<string, PersonalKind> }),
    };
  };

  /** Tells every process, this one once the surrounding transaction has committed. */
  const tellChanged = async (projectNumber: number, name: string) => {
    await outbox.append('collection.changed', { projectNumber, name });
    database.afterCommit(() => invalidate(projectNumber, name));
  };

  /** One that gave its place up comes back with what a write that was under way has brought. */
  const bringBack = async (projectNumber: number, name: string): Promise<Collection | null> => {
    await database.query(
      `UPDATE collections SET name = former_name, former_name = NULL, deleted_at = NULL, epoch = epoch + 1
       WHERE project_id = $1 AND former_name = $2 AND deleted_at IS NOT NULL`,
      [projectNumber, name],
    );
    return read(projectNumber, name);
  };

  /** Under a lock, so that the limit is exact. */
  const insertIfMissing = (
    project: Identity['project'],
    name: string,
    access: CollectionAccess,
    madeBy: MadeBy,
  ) =>
    database.transaction(async () => {
      const projectNumber = project.number;
      await lockCollections(database, projectNumber);
      const existing = await read(projectNumber, name);
      if (existing) return existing;
      await makePlace(database, project, madeBy, { limits: places, nowMs: now() });
      await tellChanged(projectNumber, name);
      const back = await bringBack(projectNumber, name);
      if (back) return back;
      const id = await nextCollectionId(database, projectNumber);
      await database.query(
        `INSERT INTO collections (project_id, coll_id, name, access, created_at, counted_at, made_by, is_set)
         VALUES ($1, $2, $3, $4, $5, now(), $6, $6::text IS NULL)`,
        [projectNumber, id, name, formatAccess(access), new Date(now()), madeBy],
      );
      return { projectNumber, id, name, access, epoch: 1, slots: [], unique: [] };
    });

  const readSummary = async (projectNumber: number, name: string): Promise<CollectionSummary> => {
    const [row] = await database.query<SummaryRow>(
      `SELECT ${summaryColumns} FROM collections WHERE project_id = $1 AND name = $2`,
      [projectNumber, name],
    );
    if (!row) throw new CollectionGone();
    return toSummary(row);
  };

  const find = async (projectNumber: number, name: string) => {
    const cached = cache.get(cacheKey(projectNumber, name));
    if (cached) return cached;
    const collection = await read(projectNumber, name);
    if (collection) cacheAfterCommit(collection);
    return collection;
  };

  return {
    find,
    invalidate,
    async refresh({ projectNumber, name }) {
      invalidate(projectNumber, name);
      const current = await find(projectNumber, name);
      if (current) return current;
      throw new CollectionGone();
    },
    async findOrCreate(identity, name) {
      const { number: projectNumber, settings } = identity.project;
      const existing = await find(projectNumber, name);
      if (existing) return existing;
      const access = (settings.defaultAccess as AccessPreset | undefined) ?? defaultAccess;
      checkCreate(resolveAccess(access, identity), {
        project: identity.project,
        collection: { name },
      });
      if (settings.createCollections === false && !bypassesRules(identity)) {
        throw new ApiError(
          'collection_creation_off',
          `There is no collection "${name}", and in this project only its owner and its secret keys create collections.`,
        );
      }
      const maker = makerOf(identity);
      const created = await insertIfMissing(identity.project, name, access, maker);
      cacheAfterCommit(created);
      return created;
    },
    async list(projectNumber) {
      const rows = await database.query<SummaryRow>(
        `SELECT ${summaryColumns} FROM collections WHERE project_id = $1 AND deleted_at IS NULL ORDER BY name`,
        [projectNumber],
      );
      return rows.map(toSummary);
    },

    set: (project, name, { access, indexes, unique, search }) =>
      database.transaction(async () => {
        const { number: projectNumber, settings } = project;
        const collection = await insertIfMissing(
          ...([project, name] as const),
          access ?? (settings.defaultAccess as AccessPreset | undefined) ?? defaultAccess,
          null,
        );
        if (indexes) await slots.pin(collection, indexes);
        if (unique) await setUniqueFields(database, collection, unique);
        if (search !== undefined) await setSearch(database, collection, search);
        await database.query(
          'UPDATE collections SET access = coalesce($3, access), is_set = true WHERE project_id = $1 AND name = $2',
          [projectNumber, name, access === undefined ? null : formatAccess(access)],
        );
        await tellChanged(projectNumber, name);
        return readSummary(projectNumber, name);
      }),

    rename: ({ number: projectNumber }, name, newName) =>
      database.transaction(async () => {
        await lockCollections(database, projectNumber);
        if (!(await read(projectNumber, name))) throw new CollectionGone();
        if (name === newName) return readSummary(projectNumber, name);
        if (await read(projectNumber, newName))
          throw new ApiError(
            'conflict',
            `There is a collection ${JSON.stringify(newName)} already.`,
          );
        await database.query(
          `UPDATE collections SET name = $3, is_set = true, epoch = epoch + 1 WHERE project_id = $1 AND name = $2`,
          [projectNumber, name, newName],
        );
        for (const changed of [name, newName]) await tellChanged(projectNumber, changed);
        return readSummary(projectNumber, newName);
      }),

    remove: ({ number: projectNumber }, name, { keepsCollection }) =>
      database.transaction(async () => {
        await lockCollections(database, projectNumber);
        const collection = await read(projectNumber, name);
        if (!collection) throw new CollectionGone();
        const { count } = await readSummary(projectNumber, name);
        await (keepsCollection ? emptyCollection : removeCollection)(database, collection);
        await tellChanged(projectNumber, name);
        return count;
      }),
  };
};
