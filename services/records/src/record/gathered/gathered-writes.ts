import { DatabaseUnavailable, StatementTimeout } from '@backlot/database';

/** Most items of one statement: as many as writes that run at once. */
const maxTogether = 8;

/** A larger one would keep those waiting that are written with it. */
export const maxGatheredBytes = 64 * 1024;

interface Waiting<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** Whether it was done is not known, or trying again would only wait as long. */
const isLost = (error: unknown) =>
  error instanceof DatabaseUnavailable || error instanceof StatementTimeout;

/**
 * Has one statement write what calls bring for the same place within a turn of the event loop. Where it fails,
 * each is written by itself, so that nobody's call fails for another's.
 * @param write all or none, or what it can; answers with a result for each
 * @param isSame whether one statement can't write both
 */
export const gatherWrites = <Place, Item, Result>(
  write: (place: Place, items: readonly Item[]) => Promise<readonly Result[]>,
  isSame: (a: Item, b: Item) => boolean = () => false,
): ((place: Place, item: Item) => Promise<Result>) => {
  type All = Waiting<Item, Result>[];
  const gathering = new Map<Place, All>();

  const writeAll = async (place: Place, all: Readonly<All>): Promise<void> => {
    try {
      const results = await write(
        place,
        all.map(({ item }) => item),
      );
      for (const [n, { resolve }] of all.entries()) resolve(results[n] as Result);
    } catch (error) {
      if (all.length === 1 || isLost(error)) for (const { reject } of all) reject(error);
      else await Promise.all(all.map((one) => writeAll(place, [one])));
    }
  };

  const begin = (place: Place): All => {
    const all: All = [];
    gathering.set(place, all);
    setImmediate(() => {
      if (gathering.get(place) === all) gathering.delete(place);
      void writeAll(place, all);
    });
    return all;
  };

  const mayJoin = (all: Readonly<All>, item: Item) =>
    all.length < maxTogether && !all.some((other) => isSame(other.item, item));

  return (place, item) =>
    new Promise((resolve, reject) => {
      const open = gathering.get(place);
      const all = open && mayJoin(open, item) ? open : begin(place);
      all.push({ item, resolve, reject });
    });
};
