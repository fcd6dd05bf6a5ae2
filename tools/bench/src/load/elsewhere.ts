import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';

/** Who makes load has what nobody else wants; who measures waits for nobody, where the user may ask for that. */
const priorities = { load: '19', measurement: '-10' };

export type Purpose = keyof typeof priorities;

/** Starts a client that in life has a machine of its own. */
export const spawnElsewhere = (purpose: Purpose, file: string, args: readonly string[]) => {
  const priority = priorities[purpose];
  // By the command, because a process that lowers its own priority lowers its main thread's alone.
  const child = spawn('nice', ['-n', priority, file, ...args], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  // Linux may share the CPU among sessions first (sched_autogroup), by a priority that each session has.
  const session = `/proc/${child.pid}/autogroup`;
  try {
    if (existsSync(session)) writeFileSync(session, priority);
  } catch (error) {
    if (purpose === 'load') throw error;
  }
  return child;
};
