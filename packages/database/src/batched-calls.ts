import { AsyncResource } from 'node:async_hooks';
import { atTurnsEnd } from './connection/turn-end.ts';
import { DatabaseUnavailable, StatementTimeout } from './errors.ts';

/** Items of one statement. */
export const mostBatched = 16;

interface Waiting<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** Whether a write was done is not known, or trying again would only wait as long. */
const isLost = (error: unknown) =>
  error instanceof DatabaseUnavailable || error instanceof StatementTimeout;

/**
 * Has one statement, or one transaction, do what calls ask for under the same key within a turn of the event loop, and
 * while more are under way there than have come: so two take turns. Where one fails, each call is done by itself.
 * @param run does all or none, or what it can; answers with a result for each
 * @param isSame whether one statement can't do both
 */
export const batchCalls = <Key, Item, Result>(
  run: (key: Key, items: readonly Item[]) => Promise<readonly Result[]>,
  isSame: (a: Item, b: Item) => boolean = () => false,
): ((key: Key, item: Item) => Promise<Result>) => {
  type All = Waiting<Item, Result>[];
  interface Group {
    all: All;
    underWay: number;
    isLeaving: boolean;
  }
  const groups = new Map<Key, Group>();

  const mayLeave = ({ all, underWay }: Group) => all.length > 0 && all.length >= underWay;

  /** @returns what tells those who wait */
  const runAll = async (key: Key, all: Readonly<All>): Promise<() => void> => {
    try {
      const results = await run(
        key,
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
      await Promise.all(all.map((one) => runAndTell(key, [one])));
      return () => {};
    }
  };

  const runAndTell = async (key: Key, all: Readonly<All>): Promise<void> => {
    const tell = await runAll(key, all);
    tell();
  };

  const leave = async (key: Key, group: Group): Promise<void> => {
    const all = group.all.splice(0);
    group.underWay += all.length;
    const tell = await runAll(key, all);
    group.underWay -= all.length;
    if (mayLeave(group)) {
      void leave(key, group);
      // The next statement is on its way before these calls are answered.
      setImmediate(tell);
    } else {
      tell();
      leaveSoon(key, group);
    }
  };

  const leaveSoon = (key: Key, group: Group): void => {
    if (group.isLeaving) return;
    group.isLeaving = true;
    const end = () => {
      group.isLeaving = false;
      if (mayLeave(group)) void leave(key, group);
      else if (group.all.length + group.underWay === 0) groups.delete(key);
    };
    // Its statement belongs to the project, and the turn among the connections, of whoever asked.
    atTurnsEnd(AsyncResource.bind(end));
  };

  const begin = (key: Key): Group => {
    const group: Group = { all: [], underWay: 0, isLeaving: false };
    groups.set(key, group);
    return group;
  };

  return (key, item) =>
    new Promise((resolve, reject) => {
      const group = groups.get(key) ?? begin(key);
      const { all } = group;
      // Not counted as under way: those of one record wait for each other, and nobody else for them.
      if (all.some((other) => isSame(other.item, item))) void runAndTell(key, all.splice(0));
      all.push({ item, resolve, reject });
      if (all.length === mostBatched) void leave(key, group);
      else leaveSoon(key, group);
    });
};
