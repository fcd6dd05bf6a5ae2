import { busConformance } from './bus.conformance.ts';
import { createInProcessBus } from './in-process.ts';

busConformance('in-process', async () => {
  const dead: { id: string; queue: string }[] = [];
  const bus = createInProcessBus({
    onDead: ({ id }, queue) => void dead.push({ id, queue }),
    retryDelayMs: 1,
  });
  return { bus, dead: () => dead, close: () => bus.close() };
});
