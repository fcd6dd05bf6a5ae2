import { setTimeout as pause } from 'node:timers/promises';
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
const underWay = attackers.flatMap((attacker) =>
  Array.from({ length: loops }, () => attack.run(attacker, ending.signal)),
);
await Promise.race([Promise.all(underWay), pause(longestMs, undefined, { ref: false })]);
process.exit();
