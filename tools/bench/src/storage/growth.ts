import { cpuSeconds, residentMib } from '../load.ts';

/** A process, and the memory that it had when it was warm. */
export interface Watched {
  name: string;
  pid: number;
  warmMib: number;
}

export interface Growth {
  name: string;
  /** From when it was warm to the most that was seen. */
  mib: number;
  cpuSeconds: number;
}

const sampleMs = 10;

export const watch = (name: string, pid: number): Watched => ({
  name,
  pid,
  warmMib: residentMib(pid),
});

/** What some work takes of processes. */
export const growthDuring = async (
  watched: readonly Watched[],
  work: () => Promise<unknown>,
): Promise<Growth[]> => {
  const most = new Map(watched.map((each) => [each, residentMib(each.pid)]));
  const before = await Promise.all(watched.map(({ pid }) => cpuSeconds(pid)));
  const sampling = setInterval(() => {
    for (const [each, mib] of most) most.set(each, Math.max(mib, residentMib(each.pid)));
  }, sampleMs);
  await work().finally(() => clearInterval(sampling));
  return Promise.all(
    watched.map(async (each, index) => ({
      name: each.name,
      mib: (most.get(each) ?? 0) - each.warmMib,
      cpuSeconds: (await cpuSeconds(each.pid)) - (before[index] ?? 0),
    })),
  );
};
