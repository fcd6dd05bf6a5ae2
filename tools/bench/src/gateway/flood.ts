import { fileURLToPath } from 'node:url';
import { apiAt } from '@backlot/testing/platform-api';
import { cpuSeconds, load, median, paced, quantile } from '../load/load.ts';
import { reachable, startProgram } from '../program.ts';

const refuserPort = 18_332;
const refuser = fileURLToPath(new URL('../refuser.ts', import.meta.url));
const rounds = 10;
const perSecond = 200;
const seconds = 3;
/** 200 calls a second are the default limit of 12,000 a minute; this is ten times as many. */
const flood = { connections: 128, pauseMs: 64 };

export interface Neighbour {
  /** Of the gateway. */
  origin: string;
  gatewayPid: number;
  token: string;
  /** Of a record in project `demo`. */
  id: string;
}

/** One phase of the comparison, over all rounds. */
interface Phase {
  /** Where the flood goes; nowhere without it. */
  url: string | undefined;
  /** Of the process whose CPU time is counted. */
  pid: number;
  /** What each call of the neighbour took. */
  times: number[];
  /** CPU seconds a second. */
  cpu: number[];
  rates: number[];
}

const newPhase = (pid: number, url?: string): Phase => ({
  url,
  pid,
  times: [],
  cpu: [],
  rates: [],
});

const measure = async (phase: Phase, { origin, token, id }: Neighbour) => {
  const flooding =
    phase.url === undefined ? undefined : load({ ...flood, url: phase.url }, seconds + 2);
  if (flooding !== undefined) await new Promise((resolve) => setTimeout(resolve, 1000));
  const before = await cpuSeconds(phase.pid);
  const url = `${origin}/api/runtime/demo/db/bench/${id}`;
  phase.times.push(...(await paced(url, { authorization: `Bearer ${token}` }, perSecond, seconds)));
  phase.cpu.push(((await cpuSeconds(phase.pid)) - before) / seconds);
  if (flooding !== undefined) phase.rates.push((await flooding).requestsPerSecond);
};

const floodedProject = async (origin: string): Promise<string> => {
  const { body: owner } = await apiAt(`${origin}/api/runtime/platform`)('POST', '/auth/signup', {
    body: { email: `${Date.now()}@flood.example`, password: 'a good long password' },
  });
  const { body: project } = await apiAt(`${origin}/api/platform`)('POST', '/projects', {
    token: owner.token,
    body: { name: 'Flood' },
  });
  return String(project.id);
};

/**
 * One project floods at ten times its limit: what its neighbour sees of it. The flood's client takes its
 * share of the same cores, wherever it goes: so a flood that leaves the gateway alone is measured too.
 * The phases take turns, and each one's calls are looked at together: a p99 of 600 calls alone hangs on
 * six of them.
 */
export const benchFlood = async (
  neighbour: Neighbour,
  running: (() => Promise<unknown>)[],
): Promise<void> => {
  const elsewhere = `http://127.0.0.1:${refuserPort}/`;
  const program = startProgram(refuser, [String(refuserPort)], {});
  running.push(() => program.stop());
  await reachable(elsewhere, 429);
  const project = await floodedProject(neighbour.origin);
  const quiet = newPhase(neighbour.gatewayPid);
  const beside = newPhase(program.pid, elsewhere);
  const during = newPhase(neighbour.gatewayPid, `${neighbour.origin}/api/runtime/${project}/db/x`);
  for (let round = 0; round < rounds; round++)
    for (const phase of [quiet, beside, during]) await measure(phase, neighbour);

  const p99 = ({ times }: Phase) => quantile(times, 0.99);
  const rate = median(during.rates);
  const micros = (seconds: number) => ((seconds * 1e6) / rate).toFixed(0);
  const ours = micros(median(during.cpu) - median(quiet.cpu));
  console.log(
    `neighbour of a flood of ${rate.toFixed(0)} calls a second: p99 ${p99(quiet).toFixed(2)} ms quiet, ${p99(beside).toFixed(2)} ms while the flood goes elsewhere, ${p99(during).toFixed(2)} ms while it goes to the gateway (${ours} µs CPU a refusal, ${micros(median(beside.cpu))} elsewhere); ratio to quiet ${(p99(during) / p99(quiet)).toFixed(2)} (bound: 1.5), to elsewhere ${(p99(during) / p99(beside)).toFixed(2)}`,
  );
};
