import {
  type AccessPreset,
  ApiError,
  type ArchivedCollection,
  type EventPayloads,
  type OnErase,
  type TrashedCollection,
} from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import type { Source } from '../source.ts';
import { bypassesRules, checkCreate, resolveAccess } from './access.ts';
import { parseAccess } from './rules.ts';
import { type CollectionChanges, type IndexedFields, setCollection } from './set-collection.ts';
import { noteEnd } from './table/ended-collections.ts';
import {
  type Collection,
  CollectionGone,
  createFoundCollections,
} from './table/found-collections.ts';
import {
  eraseKept,
  findKept,
  type KeptCollection,
  listKept,
  notKept,
  restoreKept,
} from './table/kept-collections.ts';
import { createMakeCollection } from './table/make-collection.ts';
import { type MadeBy, type PlaceLimits, toMaker } from './table/places.ts';
import {
  emptyCollection,
  lockCollections,
  removeCollection,
  setUnusedAside,
} from './table/removal.ts';
import { type CollectionSummary, readSummaries, readSummary } from './table/summaries.ts';
import { checkRuleFilters } from './terms/check-filters.ts';

export { type Collection, CollectionGone } from './table/found-collections.ts';

export interface Collections {
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
  /**
   * Deletes the collection with its records, or these alone. Nobody finds them any more from then on; where changes are
   * kept, they can come back for as long as these, and then they are erased in the background.
   * @throws ApiError not_found, conflict where too many are being erased
   */
  remove(
    project: Identity['project'],
    name: string,
    options: { keepsCollection: boolean; source: Source; isTried?: boolean },
  ): Promise<Removal>;
  /** Those that were deleted or emptied and can come back, newest first. */
  listKept(projectNumber: number): Promise<TrashedCollection[]>;
  /** @throws ApiError not_found, conflict where another one has the name, collection_limit */
  restore(
    project: Identity['project'],
    name: string,
    options: RestoreRequest,
  ): Promise<CollectionSummary>;
  /**
   * As `restore`, in a transaction of the caller. @param isTried only says whether it could
   * @throws ApiError not_found, conflict, collection_limit: nothing has changed then
   */
  bringBack(projectNumber: number, kept: KeptCollection, isTried: boolean): Promise<void>;
  /** Erases those of a name at once. @returns how many @throws ApiError not_found */
  eraseKept(projectNumber: number, name: string, deletedAt?: string): Promise<number>;
  /** Deletes the collection unless it has records; one that is not there counts as deleted. @throws ApiError conflict */
  removeUnused(projectNumber: number, name: string): Promise<boolean>;
  /** Those that the project's own callers have made or set, by name, with what was said of erased users. */
  listSet(projectNumber: number): Promise<Map<string, OnErase | null>>;
  /** Behind a name, in the order of names: by whom they were made, and what their access is. */
  listMade(projectNumber: number, after: string, limit: number): Promise<ArchivedCollection[]>;
  /** One of another project anew. @throws ApiError collection_limit, conflict where another one has its number */
  make(project: Identity['project'], collection: ArchivedCollection): Promise<void>;
  invalidate(projectNumber: number, name: string): void;
}

export interface Removal {
  /** Records that there were, or are where it is tried. */
  count: number;
  /** Null: they do not come back. */
  keptUntil: string | null;
}

interface RestoreRequest {
  /** Another one than it had. */
  name?: string | undefined;
  /** Of several of the name; the newest unless stated. */
  deletedAt?: string | undefined;
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

const dayMs = 24 * 60 * 60 * 1000;

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

  /** With those of the project locked, so that nobody makes, renames or deletes one meanwhile. */
  const locked = <T>(projectNumber: number, work: () => Promise<T>): Promise<T> =>
    database.transaction(async () => {
      await lockCollections(database, projectNumber);
      return work();
    });

  return {
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
          `UPDATE collections SET name = $3, is_set = true, epoch = epoch + 1 WHERE project_id = $1 AND name = $2`,
          [projectNumber, name, newName],
        );
        for (const changed of [name, newName]) await found.tellChanged(projectNumber, changed);
        return readSummary(database, projectNumber, newName);
      }),

    remove: ({ number: projectNumber }, name, { keepsCollection, source, isTried }) =>
      locked(projectNumber, async () => {
        const collection = await found.read(projectNumber, name);
        if (!collection) throw new CollectionGone();
        const { count } = await readSummary(database, projectNumber, name);
        const keptUntil =
          collection.hasHistory === false ? null : new Date(Date.now() + historyDays * dayMs);
        const removal = { count, keptUntil: keptUntil?.toISOString() ?? null };
        if (isTried) return removal;
        await (keepsCollection ? emptyCollection : removeCollection)(
          database,
          collection,
          keptUntil,
        );
        const isEmptied = keepsCollection;
        const ended = { ...collection, isEmptied, records: count, keptUntil, source };
        await noteEnd(database, outbox, ended, now());
        await found.tellChanged(projectNumber, name);
        return removal;
      }),

    listKept: (projectNumber) => listKept(database, projectNumber),

    restore: (project, name, { name: newName, deletedAt }) =>
      locked(project.number, async () => {
        const [kept] = await findKept(database, project.number, name, deletedAt);
        if (!kept) throw notKept(name);
        const options = { name: newName, places, nowMs: now() };
        const restored = await restoreKept(database, project, kept, options);
        await found.tellChanged(project.number, restored);
        return readSummary(database, project.number, restored);
      }),

    async bringBack(projectNumber, kept, isTried) {
      await lockCollections(database, projectNumber);
      const options = { isTried, places, nowMs: now() };
      const project = { id: '<id>', number: projectNumber };
      const name = await restoreKept(database, project, kept, options);
      if (!isTried) await found.tellChanged(projectNumber, name);
    },

    eraseKept: (projectNumber, name, deletedAt) =>
      locked(projectNumber, () => eraseKept(database, projectNumber, name, deletedAt)),

    removeUnused: (projectNumber, name) =>
      locked(projectNumber, async () => {
        const collection = await found.read(projectNumber, name);
        if (!collection) return true;
        if (!(await setUnusedAside(database, collection))) return false;
        await found.tellChanged(projectNumber, name);
        return true;
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
