import { cpuSeconds, residentMib } from '../load/load.ts';

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
  const most = new Map(watched.map((program) => [program, residentMib(program.pid)]));
  const before = await Promise.all(watched.map(({ pid }) => cpuSeconds(pid)));
  const sampling = setInterval(() => {
    for (const [program, mib] of most) most.set(program, Math.max(mib, residentMib(program.pid)));
  }, sampleMs);
  await work().finally(() => clearInterval(sampling));
  return Promise.all(
    watched.map(async (program, index) => ({
      name: program.name,
      mib: (most.get(program) ?? 0) - program.warmMib,
      cpuSeconds: (await cpuSeconds(program.pid)) - (before[index] ?? 0),
    })),
  );
};
