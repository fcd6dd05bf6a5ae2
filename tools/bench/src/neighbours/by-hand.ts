import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { quantile } from '../load/load.ts';
import { makePicture } from '../storage/picture.ts';
import { newAddresses } from './addresses.ts';
import { type Answers, longestSeconds, startAttack } from './attack-process.ts';
import { type Attacker, attacks, fillProject, openAttacker } from './attacks.ts';
import { openTenant } from './tenants.ts';
import { createVictim, listFailures, operations, type Seen } from './victim.ts';

const devOrigin = 'http://localhost:8080';
const secondsPerLine = 5;
const attackerCount = 20;

const readArguments = (args: readonly string[]) => {
  const options = { seconds: { type: 'string' } } as const;
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  return { ...values, positionals };
};

const readNumber = (name: string, text: string, max: number): number => {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw new Error(`${name}: a whole number from 1 to ${max}.`);
};

const timeOfDay = () => new Date().toTimeString().slice(0, 8);

/** As "get 3/9/14 failed 3 (503 overloaded: 3)". */
const describeCalls = (name: string, { times, failures }: Seen) => {
  const [p50, p99] = [0.5, 0.99].map((part) => quantile(times, part).toFixed(0));
  const failed = failures.length === 0 ? '' : ` failed ${listFailures(failures)}`;
  return `${name} ${p50}/${p99}/${Math.max(...times).toFixed(0)}${failed}`;
};

/**
 * `pnpm bench neighbour [url] [--seconds n]`: one tenant of a platform that runs already, and what its calls
 * take, until Ctrl-C.
 */
export const benchNeighbour = async (args: readonly string[]): Promise<void> => {
  const { seconds, positionals } = readArguments(args);
  const { origin } = new URL(positionals[0] ?? devOrigin);
  const length = seconds === undefined ? Infinity : readNumber('--seconds', seconds, 86_400);
  const operatorToken = process.env.BACKLOT_OPERATOR_TOKEN;
  if (operatorToken === undefined)
    throw new Error('BACKLOT_OPERATOR_TOKEN: what `pnpm dev` prints. The neighbour needs credits.');
  const [address] = newAddresses(origin, 1);
  const tenant = await openTenant(origin, address);
  const victim = await createVictim(tenant, makePicture(1600, 1200), operatorToken);
  console.log(`In another terminal: pnpm bench attack <name> ${tenant.base}
Milliseconds of its calls, p50/p99/longest:`);
  const startedAt = performance.now();
  do {
    const since = timeOfDay();
    const seen = await victim.measure(secondsPerLine);
    const calls = operations.map((operation) => describeCalls(operation, seen[operation]));
    console.log(`${since}-${timeOfDay()}  ${calls.join(', ')}`);
  } while (performance.now() - startedAt < length * 1000);
};

/** As "answers 200: 40, 429: 5; 12.3 MB". */
const describeAnswers = (answers: Answers | undefined) => {
  if (!answers)
    return 'the attackers have the lowest priority and got no CPU: is the machine busy?';
  const statuses = Object.entries(answers.statuses).map(([status, count]) => `${status}: ${count}`);
  return `answers ${statuses.join(', ') || 'none'}; ${(answers.bytes / 1e6).toFixed(1)} MB`;
};

const openAttackers = async (name: string, victimBase: string, addressCount: number) => {
  const addresses = newAddresses(new URL(victimBase).origin, addressCount);
  const picture = makePicture(1600, 1200);
  const attackers: Attacker[] = [];
  const refusals: unknown[] = [];
  for (let index = 0; index < attackerCount; index++)
    try {
      const attacker = await openAttacker(victimBase, addresses[index % addressCount], picture);
      if (attacks[name]?.isOverLargeRecords) await fillProject(attacker.tenant);
      attackers.push(attacker);
    } catch (error) {
      refusals.push(error);
    }
  const places = addresses[0] === undefined ? 1 : addressCount;
  console.log(`${attackers.length} new owners attack, addresses: ${places}.`);
  if (refusals.length > 0)
    console.log(`${refusals.length} were refused, the first: ${refusals[0]}`);
  return attackers;
};

/**
 * `pnpm bench attack [name] [url] [addresses] [--seconds n]`: 20 new owners attack the neighbours of the
 * project at this base address, or of `demo` on this platform; from one address unless stated. Without a
 * name: which attacks there are.
 */
export const benchAttack = async (args: readonly string[]): Promise<void> => {
  const { seconds = '10', positionals } = readArguments(args);
  const [name = '', url = devOrigin, addresses = '1'] = positionals;
  const attack = attacks[name];
  if (!attack) {
    for (const [known, { what }] of Object.entries(attacks))
      console.log(`${known.padEnd(14)} ${what}`);
    process.exitCode = name === '' ? 0 : 1;
    return;
  }
  const length = readNumber('--seconds', seconds, longestSeconds);
  const { origin, pathname } = new URL(url);
  const base = origin + (pathname === '/' ? '/api/runtime/demo' : pathname);
  console.log(`${name}: ${attack.what}`);
  const attackers = await openAttackers(
    name,
    base,
    readNumber('addresses', addresses, attackerCount),
  );
  if (attackers.length === 0) {
    process.exitCode = 1;
    return;
  }
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  const since = timeOfDay();
  const running = startAttack(name, attackers);
  await pause(length * 1000, undefined, { signal: interrupted.signal }).catch(() => {});
  const until = timeOfDay();
  const answers = await running.stop();
  console.log(`${since}-${until}  ${describeAnswers(answers)}`);
};
