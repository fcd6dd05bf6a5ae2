import { DatabaseUnavailable, StatementTimeout } from '@backlot/database';

/** Most items of one statement: as many as writes that run at once. */
const maxTogether = 8;

interface Waiting<Item> {
  item: Item;
  resolve(isWritten: boolean): void;
  reject(error: unknown): void;
}

/** Whether it was done is not known, or trying again would only wait as long. */
const isLost = (error: unknown) =>
  error instanceof DatabaseUnavailable || error instanceof StatementTimeout;

/**
 * Has one statement write what calls bring for the same place within a turn of the event loop. Where it fails,
 * each is written by itself, so that nobody's call fails for another's.
 * @param write all or none; answers whether it wrote them
 */
export const gatherWrites = <Place extends object, Item>(
  write: (place: Place, items: readonly Item[]) => Promise<boolean>,
): ((place: Place, item: Item) => Promise<boolean>) => {
  const gathering = new Map<Place, Waiting<Item>[]>();

  const writeAll = async (place: Place, all: readonly Waiting<Item>[]): Promise<void> => {
    try {
      const items = all.map(({ item }) => item);
      const isWritten = await write(place, items);
      for (const { resolve } of all) resolve(isWritten);
    } catch (error) {
      if (all.length === 1 || isLost(error)) for (const { reject } of all) reject(error);
      else await Promise.all(all.map((one) => writeAll(place, [one])));
    }
  };

  const begin = (place: Place): Waiting<Item>[] => {
    const all: Waiting<Item>[] = [];
    gathering.set(place, all);
    setImmediate(() => {
      if (gathering.get(place) === all) gathering.delete(place);
      void writeAll(place, all);
    });
    return all;
  };

  return (place, item) =>
    new Promise((resolve, reject) => {
      const open = gathering.get(place);
      const all = open && open.length < maxTogether ? open : begin(place);
      all.push({ item, resolve, reject });
    });
};
