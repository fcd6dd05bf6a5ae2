/** What is under way at the moment, in no order. */
export interface OpenItems<Item extends object> {
  /** Answers what takes the item out again, to be called once. */
  take(item: Item): () => void;
  all(): Item[];
}

/**
 * For items that come and go with each call, where a Set is costly: V8 links a Set's outgrown tables to
 * the newer ones, so that one which has become old keeps all that follow, and their items, until a full
 * collection (docs/decisions/0014).
 */
export const createOpenItems = <Item extends object>(): OpenItems<Item> => {
  const items: (Item | undefined)[] = [];
  const free: number[] = [];
  return {
    take(item) {
      const index = free.pop() ?? items.length;
      items[index] = item;
      return () => {
        items[index] = undefined;
        free.push(index);
      };
    },
    all: () => items.filter((item) => item !== undefined),
  };
};
