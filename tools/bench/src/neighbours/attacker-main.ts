import { setTimeout as pause } from 'node:timers/promises';
import type { AnswerRates } from './attack-process.ts';
import { type Attacker, attacks } from './attacks.ts';

const name = process.argv[2] ?? '';
const attack = attacks[name];
if (!attack) throw new Error(`There is no attack "${name}".`);

/** Calls that each attacker has under way. */
const loops = 3;
const longestMs = 60_000;

const ending = new AbortController();
process.once('SIGTERM', () => ending.abort());
const attackers: Attacker[] = JSON.parse(Buffer.concat(await process.stdin.toArray()).toString());
const counts: AnswerRates = { answers: 0, refusals: 0, bytes: 0 };
const onAnswer = (status: number) => {
  counts.answers += 1;
  if (status === 429 || status === 503) counts.refusals += 1;
};
const onBytes = (count: number) => {
  counts.bytes += count;
};
const loop = { signal: ending.signal, onAnswer, onBytes };
const startedAt = performance.now();
const underWay = attackers.flatMap((attacker) =>
  Array.from({ length: loops }, () => attack.run(attacker, loop)),
);
await Promise.race([Promise.all(underWay), pause(longestMs, undefined, { ref: false })]);
const seconds = (performance.now() - startedAt) / 1000;
const rates: AnswerRates = {
  answers: counts.answers / seconds,
  refusals: counts.refusals / seconds,
  bytes: counts.bytes / seconds,
};
process.stdout.write(JSON.stringify(rates), () => process.exit());
