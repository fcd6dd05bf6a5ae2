import { countersConformance } from './counters.conformance.ts';
import { createMemoryCounters } from './memory.ts';

countersConformance('memory', async () => {
  let now = 1_800_000_000_000;
  return { counters: createMemoryCounters(() => now), advance: (ms) => void (now += ms) };
});
