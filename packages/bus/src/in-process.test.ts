import { busConformance } from './bus.conformance.ts';
import { createInProcessBus } from './in-process.ts';

busConformance('in-process', async () => {
  const failed: string[] = [];
  const dead: { id: string; queue: string }[] = [];
  const bus = createInProcessBus({
    onDead: ({ id }, queue) => void dead.push({ id, queue }),
    onFailed: ({ id }) => void failed.push(id),
    retryDelayMs: 1,
  });
  return { bus, dead: () => dead, failed: () => failed, close: () => bus.close() };
});
