/** What is under way at the moment, in no order. */
export interface Slots<Item extends object> {
  /** Answers what takes the item out again, to be called once. */
  take(item: Item): () => void;
  all(): Item[];
}

/**
 * For items that come and go with each call, where a Set is costly: V8 links a Set's outgrown tables to
 * the newer ones, so that one which has become old keeps all that follow, and their items, until a full
 * collection (docs/decisions/0014).
 */
export const createSlots = <Item extends object>(): Slots<Item> => {
  const slots: (Item | undefined)[] = [];
  const free: number[] = [];
  return {
    take(item) {
      const slot = free.pop() ?? slots.length;
      slots[slot] = item;
      return () => {
        slots[slot] = undefined;
        free.push(slot);
      };
    },
    all: () => slots.filter((item) => item !== undefined),
  };
};
