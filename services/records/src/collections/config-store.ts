import {
  type CollectionLimits,
  type LimitsChange,
  type OnErase,
  projectRoutes,
  type RouteBody,
  type recordRoutes,
} from '@backlot/contract';
import type { ConfigStore } from '@backlot/service';
import type { Collections } from './collections.ts';
import type { CollectionChanges } from './set-collection.ts';
import type { CollectionSummary } from './table/summaries.ts';

type Fields = keyof RouteBody<typeof recordRoutes.setCollectionAccess>;

interface Entry extends Omit<CollectionChanges, 'limits'> {
  limits?: CollectionLimits;
}

/** Those that are not named are taken away. */
const toWholeChange = (limits: CollectionLimits | undefined): LimitsChange | null => {
  if (!limits) return null;
  const {
    maxBytes = null,
    perUser = null,
    perUserPerHour = null,
    perAddressPerHour = null,
  } = limits;
  return { maxBytes, perUser, perUserPerHour, perAddressPerHour } satisfies Required<LimitsChange>;
};

/** As `PUT …/collections/<name>` takes it, with every field. */
const toEntry = (
  { access, indexes, unique, search, schema, limits, history }: CollectionSummary,
  onErase: OnErase | null,
) =>
  ({
    access,
    indexes: indexes.filter(({ isPinned }) => isPinned).map(({ field }) => field),
    unique: unique.map(({ field }) => field),
    search: search === null ? false : (search.fields ?? true),
    schema,
    onErase,
    limits,
    history,
  }) satisfies Record<Fields, unknown>;

/** Collections as a project's config has them: those that its owner or a key has made or set. */
export const createCollectionsConfig = (collections: Collections): ConfigStore => ({
  async read(projectNumber) {
    const set = await collections.listSet(projectNumber);
    const all = await collections.list(projectNumber);
    return Object.fromEntries(
      all.flatMap((summary) => {
        const onErase = set.get(summary.name);
        return onErase === undefined ? [] : [[summary.name, toEntry(summary, onErase)]];
      }),
    );
  },
  set(project, name, entry) {
    const { limits, ...rest } = entry as Entry;
    const changes = { ...projectRoutes.collectionDefaults, ...rest, limits: toWholeChange(limits) };
    return collections.set({ ...project, name: '', settings: {} }, name, changes);
  },
  async remove({ number }, names) {
    const left: string[] = [];
    for (const name of names) if (!(await collections.removeUnused(number, name))) left.push(name);
    return left;
  },
});
