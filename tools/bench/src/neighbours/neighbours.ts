import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { median, quantile } from '../load/load.ts';
import { operatorToken } from '../prepare.ts';
import { devSettings, reachable, startProgram } from '../program.ts';
import { makePicture } from '../storage/picture.ts';
import { newAddresses } from './addresses.ts';
import { type Answers, startAttack } from './attack-process.ts';
import { type Attacker, attacks, fillProject, openAttacker } from './attacks.ts';
import { grantCredits, openTenant } from './tenants.ts';
import { createVictim, listFailures, type Operation, operations, type Seen } from './victim.ts';

const port = 18_090;
const origin = `http://localhost:${port}`;
const attackerCount = 20;
const rounds = 7;
const seconds = 3;
/** From the start of an attack to the first call that counts. */
const leadMs = 1500;
const calmMs = 1000;

const conditions = ['quiet', 'one address', '20 addresses'] as const;
type Condition = (typeof conditions)[number];

const openAttackers = async (victimBase: string, picture: Uint8Array<ArrayBuffer>) => {
  const attackers: Attacker[] = [];
  for (const address of newAddresses(origin, attackerCount)) {
    const attacker = await openAttacker(victimBase, address, picture);
    await grantCredits(attacker.tenant, operatorToken);
    await fillProject(attacker.tenant);
    attackers.push(attacker);
  }
  return attackers;
};

type Victim = Awaited<ReturnType<typeof createVictim>>;

interface Run {
  seen: Record<Operation, Seen>;
  /** Of the attackers, where there were some. */
  answers?: Answers | undefined;
}

const measure = async (
  name: string,
  condition: Condition,
  attackers: Attacker[],
  victim: Victim,
): Promise<Run> => {
  if (condition === 'quiet') return { seen: await victim.measure(seconds) };
  const [address] = newAddresses(origin, 1);
  const placed =
    condition === '20 addresses'
      ? attackers
      : attackers.map((attacker) => ({ ...attacker, address }));
  const attack = startAttack(name, placed);
  try {
    await pause(leadMs);
    const seen = await victim.measure(seconds);
    return { seen, answers: await attack.stop() };
  } finally {
    await attack.stop();
    await pause(calmMs);
  }
};

const judge = (quiet: number, attacked: number) => {
  if (attacked <= Math.max(2 * quiet, quiet + 25)) return 'within 2x or 25 ms';
  return attacked <= 3 * quiet ? 'within 3x' : 'OVER';
};

const countAnswers = ({ statuses }: Answers) =>
  Object.values(statuses).reduce((sum, count) => sum + count, 0);
/** For a limit or for load. */
const countRefusals = ({ statuses }: Answers) => (statuses[429] ?? 0) + (statuses[503] ?? 0);

const report = (name: string, measured: Map<Condition, Run[]>) => {
  const p99 = (condition: Condition, operation: Operation) =>
    median(
      (measured.get(condition) ?? []).map(({ seen }) => quantile(seen[operation].times, 0.99)),
    );
  const failed = (condition: Condition, operation: Operation) =>
    listFailures((measured.get(condition) ?? []).flatMap(({ seen }) => seen[operation].failures));
  const rate = (condition: Condition, count: (answers: Answers) => number) => {
    const all = (measured.get(condition) ?? []).flatMap(({ answers }) => answers ?? []);
    return median(all.map((answers) => count(answers) / answers.seconds));
  };
  for (const condition of conditions.slice(1)) {
    console.log(
      `${name.padEnd(14)}${condition.padEnd(14)}attackers got ${rate(condition, countAnswers).toFixed(0)} answers a second, ${rate(condition, countRefusals).toFixed(0)} of them 429 or 503, and ${(rate(condition, ({ bytes }) => bytes) / 1e6).toFixed(1)} MB`,
    );
    for (const operation of operations) {
      const quiet = p99('quiet', operation);
      const attacked = p99(condition, operation);
      console.log(
        `${name.padEnd(14)}${condition.padEnd(14)}${operation.padEnd(10)}${quiet.toFixed(1).padStart(8)} ms quiet${attacked.toFixed(1).padStart(9)} ms attacked  ratio ${(attacked / quiet).toFixed(2).padStart(6)}  ${judge(quiet, attacked)}, failed ${failed(condition, operation)}, quiet ${failed('quiet', operation)}`,
      );
    }
  }
};

/**
 * What one tenant sees while 20 accounts attack, all from one address or each from its own: the p99 of its
 * calls as the median of seven runs, in turn with quiet ones.
 *
 * @param args names of attacks; all where none is named. `stack`: each service is a process of its own
 */
export const benchNeighbours = async (args: readonly string[]): Promise<void> => {
  const chosen = args.filter((name) => name !== 'stack');
  const isStack = args.includes('stack');
  const entry = isStack ? 'stack-main' : 'main';
  const unknown = chosen.find((name) => !(name in attacks));
  if (unknown) throw new Error(`Attacks are: ${Object.keys(attacks).join(', ')}.`);
  const folder = await mkdtemp(join(tmpdir(), 'backlot-bench-'));
  const program = startProgram(
    fileURLToPath(import.meta.resolve(`@backlot/all-in-one/${entry}`)),
    [],
    {
      ...(!isStack && devSettings),
      PORT: String(port),
      BACKLOT_DATA_DIR: join(folder, 'data'),
      BACKLOT_OPERATOR_TOKEN: operatorToken,
      BACKLOT_OWNER_VERIFICATION: 'off',
      BACKLOT_LOG_LEVEL: 'silent',
    },
  );
  try {
    await reachable(`${origin}/readyz`, 200);
    const picture = makePicture(1600, 1200);
    const [address] = newAddresses(origin, 1);
    const tenant = await openTenant(origin, address);
    const victim = await createVictim(tenant, picture, operatorToken);
    const attackers = await openAttackers(tenant.base, picture);
    await victim.measure(2);
    for (const [name, { what }] of Object.entries(attacks)) {
      if (chosen.length > 0 && !chosen.includes(name)) continue;
      console.log(`${name}: ${what}`);
      const measured = new Map(conditions.map((condition) => [condition, [] as Run[]]));
      for (let round = 0; round < rounds; round++)
        for (const [condition, runs] of measured)
          runs.push(await measure(name, condition, attackers, victim));
      report(name, measured);
    }
  } finally {
    await program.stop();
    await rm(folder, { recursive: true, force: true });
  }
};
