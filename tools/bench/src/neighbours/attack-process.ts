import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
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
/** In life attackers have machines of their own: here they may use what nobody else wants. */
const lowestPriority = '19';
const patienceMs = 5000;
/** An attack ends by itself then. */
export const longestSeconds = 60;

export const startAttack = (name: string, attackers: readonly Attacker[]) => {
  // By the command, because a process that lowers its own priority lowers its main thread's alone.
  const child = spawn('nice', ['-n', lowestPriority, process.execPath, program, name], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  // Linux may share the CPU among sessions first (sched_autogroup), by a priority that each session has.
  const session = `/proc/${child.pid}/autogroup`;
  if (existsSync(session)) writeFileSync(session, lowestPriority);
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
