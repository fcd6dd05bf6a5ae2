import type { Item } from '../../values.ts';

type Order = (a: Item, b: Item) => number;

/** Where a record belongs among others, which are in order. */
export const placeIn = (items: readonly Item[], record: Item, order: Order): number => {
  const at = items.findIndex((item) => order(record, item) < 0);
  return at === -1 ? items.length : at;
};

/** The beginning of a list: as many records as its limit says, in order. */
export const createItems = (order: Order, limit: number) => {
  let items: Item[] = [];
  let hasMore = false;
  const without = (id: string) => items.filter((item) => item.id !== id);
  return {
    all: (): readonly Item[] => items,
    hasMore: () => hasMore,
    find: (id: string): Item | undefined => items.find((item) => item.id === id),
    set(all: readonly Item[], isMoreThere: boolean) {
      items = [...all];
      hasMore = isMoreThere;
    },
    /** @returns whether what follows has to be read, because a record is missing at the end */
    put(record: Item): boolean {
      const others = without(record.id);
      const wasThere = others.length < items.length;
      const at = placeIn(others, record, order);
      // What comes behind the last one may come behind others that are not here.
      const isBehind = hasMore && at === others.length;
      if (!isBehind) others.splice(at, 0, record);
      if (others.length > limit) {
        others.length = limit;
        hasMore = true;
      }
      items = others;
      return isBehind && wasThere;
    },
    /** @returns whether what follows has to be read */
    remove(id: string): boolean {
      const others = without(id);
      const wasThere = others.length < items.length;
      items = others;
      return wasThere && hasMore;
    },
  };
};
