import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type LoadRequest, load } from '../load/load.ts';
import { reachable } from '../program.ts';

/** For example `Scavenge 23.4 (40.1) -> 20.2 (40.1) MB`. */
const collection = /(\d+\.\d) \(\d+\.\d\) -> (\d+\.\d) \(\d+\.\d\) MB/;
const MIB = 1024 * 1024;
const connections = 32;
const seconds = 5;

/**
 * Bytes that a process of its own puts on its heap for a call: what lay there before each collection,
 * less what the one before had left.
 */
export const allocationPerCall = async (
  entry: string,
  env: Record<string, string>,
  origin: string,
  request: LoadRequest,
): Promise<number> => {
  const child = spawn(process.execPath, ['--trace-gc', entry], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let allocated = 0;
  let left: number | undefined;
  createInterface(child.stdout).on('line', (line) => {
    const [, before, after] = collection.exec(line) ?? [];
    if (left !== undefined && before !== undefined) allocated += Number(before) - left;
    if (after !== undefined) left = Number(after);
  });
  try {
    await reachable(`${origin}/readyz`, 200);
    await load({ ...request, connections }, 2);
    const before = allocated;
    const { requestsPerSecond } = await load({ ...request, connections }, seconds);
    return ((allocated - before) * MIB) / (requestsPerSecond * seconds);
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
};
