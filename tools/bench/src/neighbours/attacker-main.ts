import { setTimeout as pause } from 'node:timers/promises';
import { type Answers, longestSeconds } from './attack-process.ts';
import { type Attacker, attacks } from './attacks.ts';

const name = process.argv[2] ?? '';
const attack = attacks[name];
if (!attack) throw new Error(`There is no attack "${name}".`);

/** Calls that each attacker has under way. */
const loops = 3;

const ending = new AbortController();
process.once('SIGTERM', () => ending.abort());
const attackers: Attacker[] = JSON.parse(Buffer.concat(await process.stdin.toArray()).toString());
const answers: Answers = { seconds: 0, statuses: {}, bytes: 0 };
const onAnswer = (status: number) => {
  answers.statuses[status] = (answers.statuses[status] ?? 0) + 1;
};
const onBytes = (count: number) => {
  answers.bytes += count;
};
const loop = { signal: ending.signal, onAnswer, onBytes };
const startedAt = performance.now();
const underWay = attackers.flatMap((attacker) =>
  Array.from({ length: loops }, () => attack.run(attacker, loop)),
);
// Sockets that nobody reads would not keep this process alive; the timer does.
await Promise.race([Promise.all(underWay), pause(longestSeconds * 1000)]);
answers.seconds = (performance.now() - startedAt) / 1000;
process.stdout.write(JSON.stringify(answers), () => process.exit());
