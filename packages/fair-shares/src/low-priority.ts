import { readdirSync, readlinkSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { basename } from 'node:path';

/** On Linux each thread has a priority of its own, which those that it starts inherit. */
const isByThread = process.platform === 'linux';

const lower = (ids: readonly number[]) => {
  // Without special rights a process can not take back what it was started with.
  for (const id of ids)
    setPriority(id, Math.max(getPriority(id), constants.priority.PRIORITY_BELOW_NORMAL));
};

/** What this process does from now on takes the CPU that others leave. */
export const lowerProcessPriority = (): void =>
  lower(isByThread ? readdirSync('/proc/self/task').map(Number) : [process.pid]);

/** Likewise this thread alone, on Linux; elsewhere nothing happens. */
export const lowerThreadPriority = (): void => {
  if (isByThread) lower([Number(basename(readlinkSync('/proc/thread-self')))]);
};
