import { AsyncResource } from 'node:async_hooks';
import { atTurnsEnd, DatabaseUnavailable, StatementTimeout } from '@backlot/database';

/** Items of one statement, and so the single writes of one owner that run at once. */
export const mostGathered = 16;

/** A larger one would keep those waiting that are written with it. */
export const maxGatheredBytes = 64 * 1024;

interface Waiting<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** Whether a write was done is not known, or trying again would only wait as long. */
const isLost = (error: unknown) =>
  error instanceof DatabaseUnavailable || error instanceof StatementTimeout;

/**
 * Has one statement do what calls ask for in the same place within a turn of the event loop, and for as long as more
 * are under way there than have come: so two statements take turns, each with half of what there is. Where one fails,
 * each call is done by itself, so that none fails for another's.
 * @param run does all or none, or what it can; answers with a result for each
 * @param isSame whether one statement can't do both
 */
export const gatherCalls = <Place, Item, Result>(
  run: (place: Place, items: readonly Item[]) => Promise<readonly Result[]>,
  isSame: (a: Item, b: Item) => boolean = () => false,
): ((place: Place, item: Item) => Promise<Result>) => {
  type All = Waiting<Item, Result>[];
  interface Gathering {
    all: All;
    underWay: number;
    isLeaving: boolean;
  }
  const gatherings = new Map<Place, Gathering>();

  const mayLeave = ({ all, underWay }: Gathering) => all.length > 0 && all.length >= underWay;

  /** @returns what tells those who wait */
  const runAll = async (place: Place, all: Readonly<All>): Promise<() => void> => {
    try {
      const results = await run(
        place,
        all.map(({ item }) => item),
      );
      return () => {
        for (const [n, { resolve }] of all.entries()) resolve(results[n] as Result);
      };
    } catch (error) {
      if (all.length === 1 || isLost(error))
        return () => {
          for (const { reject } of all) reject(error);
        };
      await Promise.all(all.map((one) => runAndTell(place, [one])));
      return () => {};
    }
  };

  const runAndTell = async (place: Place, all: Readonly<All>): Promise<void> => {
    const tell = await runAll(place, all);
    tell();
  };

  const leave = async (place: Place, gathering: Gathering): Promise<void> => {
    const all = gathering.all.splice(0);
    gathering.underWay += all.length;
    const tell = await runAll(place, all);
    gathering.underWay -= all.length;
    if (mayLeave(gathering)) {
      void leave(place, gathering);
      // The next statement is on its way before these calls are answered: with 8 connections 1.06 of the calls a second.
      setImmediate(tell);
    } else {
      tell();
      leaveSoon(place, gathering);
    }
  };

  const leaveSoon = (place: Place, gathering: Gathering): void => {
    if (gathering.isLeaving) return;
    gathering.isLeaving = true;
    const end = () => {
      gathering.isLeaving = false;
      if (mayLeave(gathering)) void leave(place, gathering);
      else if (gathering.all.length + gathering.underWay === 0) gatherings.delete(place);
    };
    // Its statement belongs to the project, and the turn among the connections, of whoever asked.
    atTurnsEnd(AsyncResource.bind(end));
  };

  const begin = (place: Place): Gathering => {
    const gathering: Gathering = { all: [], underWay: 0, isLeaving: false };
    gatherings.set(place, gathering);
    return gathering;
  };

  return (place, item) =>
    new Promise((resolve, reject) => {
      const gathering = gatherings.get(place) ?? begin(place);
      const { all } = gathering;
      // Not counted as under way: those of one record wait for each other, and nobody else for them.
      if (all.some((other) => isSame(other.item, item))) void runAndTell(place, all.splice(0));
      all.push({ item, resolve, reject });
      if (all.length === mostGathered) void leave(place, gathering);
      else leaveSoon(place, gathering);
    });
};
