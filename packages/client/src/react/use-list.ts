import { useEffect, useState } from 'react';
import type { LiveOptions, LiveState, OnItems } from '../calls/live-types.ts';
import type { Stored } from '../calls/record-types.ts';

/** What `client.db(…)` makes. */
export interface LiveCollection<T> {
  live(options: LiveOptions<T>, onItems: OnItems<T>): () => void;
}

export interface ShownList<T> extends LiveState {
  /** Undefined until they are there. */
  items: Stored<T>[] | undefined;
  /** What keeps the list from being true; undefined again with the next items. */
  error: Error | undefined;
}

const none = { items: undefined, error: undefined, pending: new Set<string>(), hasMore: false };

/**
 * A list that stays true. What the app writes by `client.db(…)` shows at once, and goes away again where the server
 * refuses it.
 * @param options as of `live`; null reads nothing
 * @example
 * const { items, error } = useList(client.db('todos'), { where: { done: false } });
 */
export const useList = <T>(
  collection: LiveCollection<T>,
  options: Omit<LiveOptions<T>, 'onError'> | null = {},
): ShownList<T> => {
  const key = options && JSON.stringify(options);
  const [shown, setShown] = useState<{ of: unknown[]; list: ShownList<T> }>({ of: [], list: none });

  useEffect(() => {
    if (key === null) return;
    const of = [collection, key];
    const onError = (error: Error) =>
      setShown(({ of: before, list }) => ({
        of,
        list: { ...(before[0] === collection && before[1] === key ? list : none), error },
      }));
    const onItems: OnItems<T> = (items, state) =>
      setShown({ of, list: { ...state, items, error: undefined } });
    return collection.live({ ...(JSON.parse(key) as LiveOptions<T>), onError }, onItems);
  }, [collection, key]);

  return shown.of[0] === collection && shown.of[1] === key ? shown.list : none;
};

/**
 * One record that stays true: undefined until it is known, null where there is none.
 * @param id null reads nothing
 */
export const useRecord = <T>(
  collection: LiveCollection<T>,
  id: string | null,
): { record: Stored<T> | null | undefined; error: Error | undefined; isPending: boolean } => {
  const where = { id } as LiveOptions<T>['where'] & object;
  const { items, error, pending } = useList(collection, id === null ? null : { where, limit: 1 });
  return { record: items && (items[0] ?? null), error, isPending: pending.size > 0 };
};
