import { fileURLToPath } from 'node:url';
import workerpool from 'workerpool';
import type { Transformation } from './transform.ts';

/** What became of an image, and what that took of the CPU. */
export type ProcessAnswer = { cpuMs: number } & ({ bytes: Uint8Array } | { refused: string });

export interface ImageProcessesOptions {
  /** As many images are in work at a time at most. */
  processes: number;
  /** A source with more is not decoded. */
  maxPixels: number;
  /** For one image, from when its process begins. Default 10,000. */
  limitMs?: number;
}

export type ImageProcesses = ReturnType<typeof createImageProcesses>;

/**
 * Makes images in processes of their own, which start with the first image and have a low priority: an
 * image takes the CPU that no call wants, and one that crashes its decoder harms nobody else.
 */
export const createImageProcesses = (options: ImageProcessesOptions) => {
  const { processes, maxPixels, limitMs = 10_000 } = options;
  const pool = workerpool.pool(fileURLToPath(new URL('./process-main.ts', import.meta.url)), {
    workerType: 'process',
    maxWorkers: processes,
    workerTerminateTimeout: 100,
    // One heap for `malloc`: with one for each thread what an image took stays with every thread.
    forkOpts: { env: { MALLOC_ARENA_MAX: '1' }, serialization: 'advanced' },
  });
  return {
    async transform(source: Buffer, wanted: Transformation): Promise<ProcessAnswer> {
      let timer: NodeJS.Timeout | undefined;
      const onBegin = () => {
        timer = setTimeout(() => task.cancel(), limitMs);
      };
      const task = pool.exec<(...all: unknown[]) => ProcessAnswer>(
        'transform',
        [source, wanted, maxPixels],
        { on: onBegin },
      );
      try {
        return await task;
      } catch (cause) {
        if (timer === undefined) throw cause;
        return { refused: 'it took too long, or ended its process', cpuMs: limitMs };
      } finally {
        clearTimeout(timer);
      }
    },
    async close(): Promise<void> {
      await pool.terminate(true);
    },
  };
};
