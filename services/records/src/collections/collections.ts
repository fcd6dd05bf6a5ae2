import {
  type AccessPreset,
  ApiError,
  type ArchivedCollection,
  type EventPayloads,
  type OnErase,
} from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import { bypassesRules, checkCreate, resolveAccess } from './access.ts';
import { type CollectionEnds, createCollectionEnds, lockedCollections } from './collection-ends.ts';
import { parseAccess } from './rules.ts';
import { type CollectionChanges, type IndexedFields, setCollection } from './set-collection.ts';
import {
  type Collection,
  CollectionGone,
  createFoundCollections,
} from './table/found-collections.ts';
import { createMakeCollection } from './table/make-collection.ts';
import { type MadeBy, type PlaceLimits, toMaker } from './table/places.ts';
import { type CollectionSummary, readSummaries, readSummary } from './table/summaries.ts';
import { checkRuleFilters } from './terms/check-filters.ts';

export { type Collection, CollectionGone } from './table/found-collections.ts';

export interface Collections extends CollectionEnds {
  /** Null where nobody has created it. The answer may be up to 5 seconds old. */
  find(projectNumber: number, name: string): Promise<Collection | null>;
  /**
   * Finds the collection, or creates it with the project's default access if this caller may.
   * @throws ApiError unauthenticated, forbidden, collection_limit, collection_creation_off
   */
  findOrCreate(identity: Identity, name: string): Promise<Collection>;
  /** The collection as it is now. @throws CollectionGone */
  refresh(collection: Pick<Collection, 'projectNumber' | 'name'>): Promise<Collection>;
  list(projectNumber: number): Promise<CollectionSummary[]>;
  /**
   * Creates the collection when it is missing.
   * @throws ApiError collection_limit, invalid_body where a field can not be indexed, unique or searched or a schema
   * does not hold, conflict
   */
  set(
    project: Identity['project'],
    name: string,
    changes: CollectionChanges,
  ): Promise<CollectionSummary>;
  /** @throws ApiError not_found, conflict where the name is another's */
  rename(project: Identity['project'], name: string, newName: string): Promise<CollectionSummary>;
  /** Those that the project's own callers have made or set, by name, with what was said of erased users. */
  listSet(projectNumber: number): Promise<Map<string, OnErase | null>>;
  /** Behind a name, in the order of names: by whom they were made, and what their access is. */
  listMade(projectNumber: number, after: string, limit: number): Promise<ArchivedCollection[]>;
  /** One of another project anew. @throws ApiError collection_limit, conflict where another one has its number */
  make(project: Identity['project'], collection: ArchivedCollection): Promise<void>;
  invalidate(projectNumber: number, name: string): void;
}

export interface CollectionsDeps {
  database: Database;
  outbox: Outbox<EventPayloads>;
  slots: IndexedFields;
  places: PlaceLimits;
  /** How long what was deleted can come back. */
  historyDays: number;
  now: () => number;
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

const toNewAccess = ({ settings }: Identity['project']): AccessPreset =>
  (settings.defaultAccess as AccessPreset | undefined) ?? 'shared';

export const createCollections = ({
  database,
  outbox,
  slots,
  places,
  historyDays,
  now,
}: CollectionsDeps): Collections => {
  const found = createFoundCollections(database, outbox, now);
  const makeCollection = createMakeCollection({ database, found, places, now });

  const locked = lockedCollections(database);
  const ends = createCollectionEnds({ database, outbox, found, places, historyDays, now });

  return {
    ...ends,
    find: found.find,
    invalidate: found.invalidate,
    refresh: found.refresh,
    async findOrCreate(identity, name) {
      const { project } = identity;
      const existing = await found.find(project.number, name);
      if (existing) return existing;
      const access = toNewAccess(project);
      checkCreate(resolveAccess(access, identity), { project, collection: { name } });
      if (project.settings.createCollections === false && !bypassesRules(identity)) {
        throw new ApiError(
          'collection_creation_off',
          `There is no collection "${name}", and in this project only its owner and its secret keys create collections.`,
        );
      }
      const created = await makeCollection(project, name, access, toMaker(identity));
      found.keep(created);
      return created;
    },
    list: (projectNumber) => readSummaries(database, projectNumber),

    set: (project, name, changes) =>
      database.transaction(async () => {
        if (changes.access) checkRuleFilters(changes.access);
        const access = changes.access ?? toNewAccess(project);
        const collection = await makeCollection(project, name, access, null);
        await setCollection(database, slots, collection, changes);
        await found.tellChanged(project.number, name);
        return readSummary(database, project.number, name);
      }),

    rename: ({ number: projectNumber }, name, newName) =>
      locked(projectNumber, async () => {
        if (!(await found.read(projectNumber, name))) throw new CollectionGone();
        if (name === newName) return readSummary(database, projectNumber, name);
        if (await found.read(projectNumber, newName))
          throw new ApiError(
            'conflict',
            `There is a collection ${JSON.stringify(newName)} already.`,
          );
        await database.query(
          `UPDATE collections SET name = $3, is_set = true, took_name = true, epoch = epoch + 1 WHERE project_id = $1 AND name = $2`,
          [projectNumber, name, newName],
        );
        for (const changed of [name, newName]) await found.tellChanged(projectNumber, changed);
        return readSummary(database, projectNumber, newName);
      }),

    async listSet(projectNumber) {
      const rows = await database.query<{ name: string; onErase: OnErase | null }>(
        'SELECT name, on_erase AS "onErase" FROM collections WHERE project_id = $1 AND is_set AND deleted_at IS NULL',
        [projectNumber],
      );
      return new Map(rows.map(({ name, onErase }) => [name, onErase]));
    },

    async listMade(projectNumber, after, limit) {
      const rows = await database.query<{
        number: number;
        name: string;
        access: string;
        made_by: MadeBy;
      }>(
        `SELECT coll_id AS number, name, access, made_by FROM collections
         WHERE project_id = $1 AND deleted_at IS NULL AND name > $2 ORDER BY name LIMIT $3`,
        [projectNumber, after, limit],
      );
      return rows.map(({ number, name, access, made_by: madeBy }) => ({
        number,
        name,
        access: parseAccess(access) as ArchivedCollection['access'],
        madeBy,
      }));
    },

    async make(project, { number, name, access, madeBy }) {
      await makeCollection(project, name, access, madeBy, number);
    },
  };
};
