import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { spawnElsewhere } from '../load/elsewhere.ts';
import type { Attacker } from './attacks.ts';

/** What the attackers got. */
export interface Answers {
  seconds: number;
  /** How many answers had which status. */
  statuses: Record<string, number>;
  /** Of answers, whole or not. */
  bytes: number;
}

const program = fileURLToPath(new URL('./attacker-main.ts', import.meta.url));
const patienceMs = 5000;
/** An attack ends by itself then. */
export const longestSeconds = 60;

export const startAttack = (name: string, attackers: readonly Attacker[]) => {
  const child = spawnElsewhere('load', process.execPath, [program, name]);
  child.stdin.end(JSON.stringify(attackers));
  const written = text(child.stdout);
  return {
    /** Nothing where the attackers had to be killed. */
    async stop(): Promise<Answers | undefined> {
      child.kill('SIGTERM');
      const patience = setTimeout(() => child.kill('SIGKILL'), patienceMs);
      const answers = await written;
      clearTimeout(patience);
      return answers === '' ? undefined : JSON.parse(answers);
    },
  };
};
