import { fileURLToPath } from 'node:url';
import workerpool, { type Pool } from 'workerpool';
import type { Transformation } from './transform.ts';

/** Bytes, or the key of a blob in the store's folder. */
export type ImageSource = Uint8Array | string;

/** What became of an image, and what that took of the CPU. */
export type ProcessAnswer = { cpuMs: number } & (
  | { bytes: Uint8Array }
  | { refused: string }
  | { isMissing: true }
);

export interface ImageProcessesOptions {
  /** As many images are in work at a time at most. */
  processes: number;
  /** A source with more is not decoded. */
  maxPixels: number;
  /** Where sources that come as keys are files. */
  folder?: string | undefined;
  /** For one image, from when its process begins. Default 10,000. */
  limitMs?: number;
  /** Without an image for so long all processes end. Default 60,000. */
  idleMs?: number;
}

/** Of an image, or of its process, which may have taken too much memory. */
export const tookTooLong = 'it took too long, or ended its process';

/** What a process says when it has its source. */
export interface Begun {
  pid: number;
}

const endingMs = 1000;

const kill = (pid: number) => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
};

const end = async (pool: Pool) => {
  try {
    await pool.terminate(true, endingMs);
  } catch {
    // Something else has ended a process: the pool waits for its end in vain.
  }
};

export type ImageProcesses = ReturnType<typeof createImageProcesses>;

/**
 * Makes images in processes of their own, which start with the first image and have a low priority: an
 * image takes the CPU that no call wants, and one that crashes its decoder harms nobody else.
 */
export const createImageProcesses = (options: ImageProcessesOptions) => {
  const { processes, maxPixels, folder = '', limitMs = 10_000, idleMs = 60_000 } = options;
  const openPool = () =>
    workerpool.pool(fileURLToPath(new URL('./process-main.ts', import.meta.url)), {
      workerType: 'process',
      maxWorkers: processes,
      forkArgs: [folder],
      workerTerminateTimeout: 100,
      // One heap for `malloc`: with one for each thread what an image took stays with every thread.
      forkOpts: { env: { MALLOC_ARENA_MAX: '1' }, serialization: 'advanced' },
    });
  let pool = openPool();
  let ended: Promise<unknown> = Promise.resolve();
  let running = 0;
  let idleTimer: NodeJS.Timeout | undefined;
  /** Each has 75 MB of memory of its own after AVIFs of 1,400 pixels. */
  const endLater = () => {
    idleTimer = setTimeout(() => {
      ended = Promise.all([ended, end(pool)]);
      // One that ends its processes starts no others meanwhile.
      pool = openPool();
    }, idleMs).unref();
  };
  /** @param tries more that may find a process which something else has ended */
  const attempt = async (
    source: ImageSource,
    wanted: Transformation,
    tries: number,
  ): Promise<ProcessAnswer> => {
    let timer: NodeJS.Timeout | undefined;
    // `task.cancel()` would wait without end, and keep the place, where the process ends before it answers.
    const onBegin = ({ pid }: Begun) => {
      timer = setTimeout(() => kill(pid), limitMs);
    };
    const task = pool.exec<(...all: unknown[]) => ProcessAnswer>(
      'transform',
      [source, wanted, maxPixels],
      { on: onBegin },
    );
    try {
      return await task;
    } catch (cause) {
      if (timer !== undefined) return { refused: tookTooLong, cpuMs: limitMs };
      if (tries === 0) throw cause;
    } finally {
      clearTimeout(timer);
    }
    return attempt(source, wanted, tries - 1);
  };
  return {
    async transform(source: ImageSource, wanted: Transformation): Promise<ProcessAnswer> {
      running += 1;
      clearTimeout(idleTimer);
      try {
        return await attempt(source, wanted, processes);
      } finally {
        running -= 1;
        if (running === 0) endLater();
      }
    },
    async close(): Promise<void> {
      clearTimeout(idleTimer);
      await Promise.all([ended, end(pool)]);
    },
  };
};
