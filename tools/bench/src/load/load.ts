import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Purpose, spawnElsewhere } from './elsewhere.ts';

const run = promisify(execFile);

export interface LoadRequest {
  url: string;
  method?: 'GET' | 'POST' | 'PATCH';
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** 64 unless stated. */
  connections?: number;
  /** How long a connection waits between its calls, on average. None unless stated. */
  pauseMs?: number;
  /** All other answers are failures. Any below 400 is good where nothing is stated. */
  expected?: { status: number; bytes: number };
  /** Each call goes to one of them below the url, by chance. */
  paths?: readonly string[];
  /** Each call has an Idempotency-Key of its own. */
  isKeyed?: boolean;
  /** As if the client ran on another machine, for this. */
  elsewhere?: Purpose;
}

export interface LoadResult {
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  failures: number;
}

const script = fileURLToPath(new URL('./wrk.lua', import.meta.url));

/** What `nice` ends with where there is no such command. */
const notFound = 127;

const runWrk = async (args: readonly string[], elsewhere?: Purpose): Promise<string> => {
  const child = elsewhere
    ? spawnElsewhere(elsewhere, 'wrk', args)
    : spawn('wrk', args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
  const [stdout, status] = await Promise.all([text(child.stdout), exited]);
  if (status === 0) return stdout;
  throw new Error(
    status === null || status === notFound
      ? 'The benchmark needs wrk: install the package "wrk" (Debian: apt-get install wrk).'
      : `wrk ended with ${status}.`,
  );
};

/** Calls as fast as answers come, or with pauses, by wrk. */
export const load = async (request: LoadRequest, seconds: number): Promise<LoadResult> => {
  const { url, method = 'GET', headers = {}, body = '', connections = 64, pauseMs = 0 } = request;
  const { status = '', bytes = '' } = request.expected ?? {};
  const options = [
    '-t1',
    '--timeout',
    '20s',
    `-c${connections}`,
    `-d${seconds}s`,
    '-s',
    script,
    url,
  ];
  const below = new URL(url).pathname.replace(/\/$/, '');
  const temporary: string[] = [];
  const writeTemporary = (content: string | Buffer) => {
    const file = join(tmpdir(), `backlot-load-${randomUUID()}`);
    temporary.push(file);
    writeFileSync(file, content);
    return file;
  };
  const pathFile = request.paths
    ? writeTemporary(request.paths.map((path) => below + path).join('\n'))
    : '';
  const bodyFile = body.length > 0 ? writeTemporary(body) : '';
  const keys = request.isKeyed ? `bench-${randomUUID()}-` : '';
  const args = [
    ...options,
    '--',
    method,
    bodyFile,
    ...[pauseMs, status, bytes].map(String),
    pathFile,
    keys,
    ...Object.entries(headers).flat(),
  ];
  const stdout = await runWrk(args, request.elsewhere).finally(() => {
    for (const file of temporary) rmSync(file, { force: true });
  });
  const summary = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  return {
    requestsPerSecond: summary.requests / (summary.micros / 1e6),
    p50Ms: summary.p50 / 1000,
    p99Ms: summary.p99 / 1000,
    failures: summary.failures,
  };
};

const pacedAgent = new Agent({ keepAlive: true, maxSockets: 32 });

/** @param part for example 0.99 */
export const quantile = (values: readonly number[], part: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * part)] ?? Number.NaN;

/**
 * Calls at a steady rate, over at most 32 connections, whatever the answers are. Answers how many
 * milliseconds each took.
 */
export const paced = async (
  url: string,
  headers: Record<string, string>,
  perSecond: number,
  seconds: number,
): Promise<number[]> => {
  const times: number[] = [];
  const underWay: Promise<void>[] = [];
  const call = () =>
    new Promise<void>((resolve) => {
      const startedAt = performance.now();
      const done = () => {
        times.push(performance.now() - startedAt);
        resolve();
      };
      const req = get(url, { agent: pacedAgent, headers }, (res) => res.resume().once('end', done));
      req.once('error', done);
    });
  const everyMs = 10;
  const beganAt = performance.now();
  let sent = 0;
  while (sent < perSecond * seconds) {
    const due = Math.floor(((performance.now() - beganAt) / 1000) * perSecond);
    for (; sent < due; sent++) underWay.push(call());
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  await Promise.all(underWay);
  return times;
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

export const median = (values: readonly number[]): number => quantile(values, 0.5);
