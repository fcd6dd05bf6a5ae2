import { setFlagsFromString } from 'node:v8';

/** For processes whose work is small: V8 leaves garbage lying by how much memory the machine has. */
const smallNewSpace = '--max-semi-space-size=4';
/** For those that pass large buffers on: they are freed when the new space is collected, which they do not fill. */
const newSpaceForBuffers = '--max-semi-space-size=16';
/** What V8 takes in a container of 384 MiB. */
const boundedOldSpace = '--max-old-space-size=256';

const nodeOptions: Partial<Record<string, readonly string[]>> = {
  gateway: [newSpaceForBuffers],
  records: [newSpaceForBuffers],
  storage: [smallNewSpace],
  ai: [smallNewSpace, boundedOldSpace],
  email: [smallNewSpace, boundedOldSpace],
};

/** What the process of this name is started with (docs/decisions/0021-large-answers-in-parts.md). */
export const nodeOptionsFor = (name: string): readonly string[] => nodeOptions[name] ?? [];

/** To be called first: the heap grows to twice of what lives before all of it is collected, not to four times. */
export const boundHeapGrowth = (): void => setFlagsFromString('--heap-growing-percent=100');
