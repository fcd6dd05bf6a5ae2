import { ApiError } from '@backlot/contract';
import { checkRead } from '../collections/access.ts';
import type { ReadLimits } from '../query/list-statement.ts';
import type { IsQuick } from '../query/plan.ts';
import { type Count, planCount } from '../query/plans/count-plan.ts';
import { planSearchCount } from '../query/plans/search-plan.ts';
import { tooManyFound, withBuiltSearch } from '../query/search-query.ts';
import type { Selection } from '../query/selection.ts';
import { createPlanRunner, type PlanReader, type PlanRunnerDeps } from './run-plans.ts';

export type { Count } from '../query/plans/count-plan.ts';

export interface Counts {
  /** @throws ApiError unauthenticated, query_too_expensive; FairShareFull */
  count(selection: Selection, reader: PlanReader): Promise<Count>;
}

export interface CountsDeps extends PlanRunnerDeps {
  limits: ReadLimits;
}

/** Of a count that did not come to look at a single piece. */
const tooExpensive = (cause: unknown) =>
  cause ?? new ApiError('query_too_expensive', 'This count would look for longer than a second.');

export const createCounts = ({ limits, ...deps }: CountsDeps): Counts => {
  const run = createPlanRunner(deps);
  return {
    async count(asked, reader) {
      const { access, search } = asked;
      checkRead(access);
      if (access.rights.read === 'none') return { count: 0 };
      if (search) {
        const current = await withBuiltSearch(deps.refresh, asked);
        const plan = (selection: Selection) => planSearchCount(selection, search, limits);
        return run({ asked: current, plan, tooExpensive: tooManyFound }, reader);
      }
      const plan = (selection: Selection, isQuick: IsQuick) =>
        planCount(selection, limits, isQuick);
      return run({ asked, plan, tooExpensive }, reader);
    },
  };
};
