import type { EventPayloads, TrashedCollection } from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import type { Source } from '../source.ts';
import { noteEnd } from './table/ended-collections.ts';
import { CollectionGone, type FoundCollections } from './table/found-collections.ts';
import {
  eraseKept,
  findKept,
  type KeptCollection,
  listKept,
  notKept,
  restoreKept,
} from './table/kept-collections.ts';
import type { PlaceLimits } from './table/places.ts';
import {
  emptyCollection,
  lockCollections,
  removeCollection,
  setUnusedAside,
} from './table/removal.ts';
import { type CollectionSummary, readSummary } from './table/summaries.ts';

/** How collections end, and come back. */
export interface CollectionEnds {
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
}

interface Removal {
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

interface CollectionEndsDeps {
  database: Database;
  outbox: Outbox<EventPayloads>;
  found: FoundCollections;
  places: PlaceLimits;
  historyDays: number;
  now: () => number;
}

const dayMs = 24 * 60 * 60 * 1000;

/** Works with those of a project locked, so that nobody makes, renames or deletes one meanwhile. */
export const lockedCollections =
  (database: Database) =>
  <T>(projectNumber: number, work: () => Promise<T>): Promise<T> =>
    database.transaction(async () => {
      await lockCollections(database, projectNumber);
      return work();
    });

export const createCollectionEnds = ({
  database,
  outbox,
  found,
  places,
  historyDays,
  now,
}: CollectionEndsDeps): CollectionEnds => {
  const locked = lockedCollections(database);

  return {
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
      // An undo says the code of a refusal, and not its hint.
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
  };
};
