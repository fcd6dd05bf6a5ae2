import { countersConformance } from './counters.conformance.ts';
import { budgetsConformance } from './credits/budgets.conformance.ts';
import { creditsConformance } from './credits/credits.conformance.ts';
import { createMemoryCounters } from './memory.ts';

const create = async () => {
  let now = 1_800_000_000_000;
  const advance = (ms: number) => {
    now += ms;
  };
  return { counters: createMemoryCounters(() => now), advance };
};

countersConformance('memory', create);
creditsConformance('memory', create);
budgetsConformance('memory', create);
