import { useNavigate, useParams, useSearch } from '@tanstack/react-router';

export type Where = Readonly<Record<string, unknown>>;

export const panels = ['settings', 'trash', 'transfer'] as const;
export type Panel = (typeof panels)[number];

export const recordTabs = ['fields', 'json', 'history'] as const;
export type RecordTab = (typeof recordTabs)[number];

/** What the address of a collection says beside its name. */
export interface CollectionSearch {
  where?: Where;
  /** Words to search. */
  search?: string;
  sort?: string;
  /** As whom one looks: the value of Backlot-View-As. */
  as?: string;
  /** The open record: an id, or `new`. */
  record?: string;
  tab?: RecordTab;
  panel?: Panel;
}

const isObject = (value: unknown): value is Where =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const oneFrom = <T extends string>(known: readonly T[], value: unknown): T | undefined =>
  known.find((name) => name === value);

/** Takes what fits of what anybody may have typed. */
export const toCollectionSearch = (given: Record<string, unknown>): CollectionSearch => {
  const { where, search, sort, as, record } = given;
  const tab = oneFrom(recordTabs, given.tab);
  const panel = oneFrom(panels, given.panel);
  return {
    ...(isObject(where) && { where }),
    ...(search !== undefined && { search: String(search) }),
    ...(sort !== undefined && { sort: String(sort) }),
    ...(typeof as === 'string' && { as }),
    ...(typeof record === 'string' && { record }),
    ...(tab && { tab }),
    ...(panel && { panel }),
  };
};

const from = '/signed-in/projects/$projectId/data/$collection';

/** The collection that the address names, what else it says, and how to change that: undefined takes a part away. */
export const useAddress = () => {
  const { projectId, collection } = useParams({ from });
  const search = useSearch({ from });
  const navigate = useNavigate({ from: '/projects/$projectId/data/$collection' });
  const change = (
    part: { [K in keyof CollectionSearch]?: CollectionSearch[K] | undefined },
    { replace = false } = {},
  ) =>
    void navigate({
      search: (now: CollectionSearch) => toCollectionSearch({ ...now, ...part }),
      replace,
    });
  return { projectId, collection, search, change };
};
