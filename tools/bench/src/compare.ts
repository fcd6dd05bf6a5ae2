import { setTimeout as pause } from 'node:timers/promises';
import { cpuSeconds, type LoadRequest, type LoadResult, load, median } from './load/load.ts';

export interface Pace {
  rounds: number;
  roundSeconds: number;
  /** After each round, for what it has left under way: a server need not notice that its callers have gone. */
  restMs?: number;
}

const usualPace: Pace = { rounds: 5, roundSeconds: 4 };

export interface Subject {
  name: string;
  /** Whose CPU time is counted. */
  pids: readonly number[];
  request: LoadRequest;
}

const totalCpuSeconds = async (pids: readonly number[]) =>
  (await Promise.all(pids.map(cpuSeconds))).reduce((sum, seconds) => sum + seconds, 0);

/** Turn about, so that both see the same noise of the machine. */
export const compare = async (
  what: string,
  bound: number,
  subject: Subject,
  bare: Subject,
  { rounds, roundSeconds, restMs = 0 } = usualPace,
) => {
  const measured = new Map<Subject, { result: LoadResult; cpuMicros: number }[]>([
    [subject, []],
    [bare, []],
  ]);
  for (const side of [subject, bare]) await load(side.request, Math.min(2, roundSeconds));
  for (let round = 0; round < rounds; round++) {
    for (const [side, results] of measured) {
      const before = await totalCpuSeconds(side.pids);
      const result = await load(side.request, roundSeconds);
      if (result.failures > 0) throw new Error(`${side.name}: ${result.failures} calls failed`);
      const used = (await totalCpuSeconds(side.pids)) - before;
      await pause(restMs);
      results.push({ result, cpuMicros: (used * 1e6) / (result.requestsPerSecond * roundSeconds) });
    }
  }
  const rate = (side: Subject) =>
    median((measured.get(side) ?? []).map(({ result }) => result.requestsPerSecond));
  for (const [side, results] of measured) {
    console.log(
      `${what.padEnd(8)}${side.name.padEnd(24)}${rate(side).toFixed(0).padStart(7)}/s  p50 ${median(results.map(({ result }) => result.p50Ms))} ms  p99 ${median(results.map(({ result }) => result.p99Ms))} ms  ${median(results.map(({ cpuMicros }) => cpuMicros)).toFixed(0)} µs CPU a call`,
    );
  }
  console.log(
    `${what.padEnd(8)}ratio                   ${(rate(subject) / rate(bare)).toFixed(2)}   (bound: ${bound})`,
  );
};
