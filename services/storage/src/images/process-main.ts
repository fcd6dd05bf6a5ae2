import { lowerProcessPriority } from '@backlot/fair-shares';
import workerpool from 'workerpool';
import type { ProcessAnswer } from './image-processes.ts';
import { type Transformation, transform } from './transform.ts';

lowerProcessPriority();

const messageIn = (error: unknown) => (error instanceof Error ? error.message : String(error));

workerpool.worker({
  async transform(
    source: Uint8Array,
    wanted: Transformation,
    maxPixels: number,
  ): Promise<ProcessAnswer> {
    workerpool.workerEmit('begun');
    const before = process.cpuUsage();
    const made = await transform(source, wanted, maxPixels).then(
      (bytes) => ({ bytes }),
      (error: unknown) => ({ refused: messageIn(error) }),
    );
    const { user, system } = process.cpuUsage(before);
    return { ...made, cpuMs: (user + system) / 1000 };
  },
});
