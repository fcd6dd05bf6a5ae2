import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lowerProcessPriority } from '@backlot/fair-shares';
import workerpool from 'workerpool';
import { BlobStoreUnavailable, checkKey } from '../blob-store/blob-store.ts';
import type { Begun, ImageSource, ProcessAnswer } from './image-processes.ts';
import { type Transformation, transform } from './transform.ts';

lowerProcessPriority();

/**
 * What decoder and encoder may take beside what the process has when it starts, in bytes (docs/decisions/0028).
 */
const maxImageBytes = 560 * 1024 * 1024;

/** An image that needs more is refused, or ends this process: the container's limit would end the service. */
const limitMemory = () => {
  const [, ownKib] = /^VmData:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  const bytes = Number(ownKib) * 1024 + maxImageBytes;
  try {
    execFileSync('prlimit', ['--pid', String(process.pid), `--data=${bytes}`]);
  } catch {
    // A system without it: what an image takes has no bound.
  }
};
if (process.platform === 'linux') limitMemory();

const [folder = ''] = process.argv.slice(2);

const messageIn = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Undefined where there is no such blob. */
const read = async (source: ImageSource): Promise<Uint8Array | undefined> => {
  if (typeof source !== 'string') return source;
  const path = join(folder, checkKey(source));
  try {
    return await readFile(path);
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw new BlobStoreUnavailable('the file system refuses', { cause });
  }
};

workerpool.worker({
  async transform(
    source: ImageSource,
    wanted: Transformation,
    maxPixels: number,
  ): Promise<ProcessAnswer> {
    const content = await read(source);
    workerpool.workerEmit({ pid: process.pid } satisfies Begun);
    if (!content) return { isMissing: true, cpuMs: 0 };
    const before = process.cpuUsage();
    const made = await transform(content, wanted, maxPixels).then(
      (bytes) => ({ bytes }),
      (error: unknown) => ({ refused: messageIn(error) }),
    );
    const { user, system } = process.cpuUsage(before);
    return { ...made, cpuMs: (user + system) / 1000 };
  },
});
