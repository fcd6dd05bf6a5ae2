import { countersConformance } from './counters.conformance.ts';
import { createMemoryCounters } from './memory.ts';

countersConformance('memory', async () => {
  let now = 1_800_000_000_000;
  const advance = (ms: number) => {
    now += ms;
  };
  return { counters: createMemoryCounters(() => now), advance };
});
