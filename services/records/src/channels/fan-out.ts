/** What is told in a second: one for each stream and for each KB that it gets. */
const bounds = { project: 20_000, owner: 40_000, all: 100_000 };
/** What a project has whatever others do. */
const smallPart = 2000;

export interface FanOut {
  /** Whether so many streams of the project may be told so much now. */
  take(
    project: { number: number; ownerId: string | null },
    streams: number,
    length: number,
  ): boolean;
}

/** Bounds of what one process tells its streams in a second. @param now milliseconds that only go forward */
export const createFanOut = (now: () => number): FanOut => {
  let second = 0;
  let told = new Map<string, number>();
  const toldTo = (key: string) => told.get(key) ?? 0;
  return {
    take({ number, ownerId }, streams, length) {
      const current = Math.floor(now() / 1000);
      if (current !== second) told = new Map();
      second = current;
      const cost = streams * (1 + length / 1024);
      const [project, owner] = [`project ${number}`, `owner ${ownerId ?? number}`];
      const isSmall = toldTo(project) + cost <= smallPart;
      const isFull =
        toldTo(owner) + cost > bounds.owner || (!isSmall && toldTo('all') + cost > bounds.all);
      // The first of a second goes, however many listen.
      if (toldTo(project) > 0 && (isFull || toldTo(project) + cost > bounds.project)) return false;
      for (const key of [project, owner, 'all']) told.set(key, toldTo(key) + cost);
      return true;
    },
  };
};
