import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import autocannon from 'autocannon';

const run = promisify(execFile);

export interface LoadRequest {
  url: string;
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string;
}

export interface LoadResult {
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  failures: number;
}

const connections = 64;

/** Calls as fast as answers come, over 64 connections. */
export const load = async (request: LoadRequest, seconds: number): Promise<LoadResult> => {
  const result = await autocannon({ ...request, connections, duration: seconds, workers: 1 });
  return {
    requestsPerSecond: result.requests.average,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    failures: result.non2xx + result.errors,
  };
};

/** CPU time of a process so far, in seconds; Linux only. */
export const cpuSeconds = async (pid: number): Promise<number> => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const { stdout } = await run('getconf', ['CLK_TCK']);
  return (Number(fields[11]) + Number(fields[12])) / Number(stdout);
};

/** Resident memory of a process in MiB; Linux only. */
export const residentMib = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};
