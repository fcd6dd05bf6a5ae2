import { ApiError } from '@backlot/contract';
import type { FairShares } from '@backlot/fair-shares';
import type { JsonParts } from '@backlot/http';
import { checkRead } from '../collections/access.ts';
import type { CursorPosition } from '../query/cursor.ts';
import type { ListQuery, ReadLimits } from '../query/list-statement.ts';
import { createListPlans } from '../query/plans/list-plan.ts';
import { planSearch } from '../query/plans/search-plan.ts';
import { tooManyFound, withBuiltSearch } from '../query/search-query.ts';
import { scannedFor } from '../query/selection.ts';
import { createPlanRunner, type PlanReader, type PlanRunnerDeps } from './run-plans.ts';
import { createLargePages } from './shown/large-pages.ts';
import { usualPieceBounds } from './walk-pieces.ts';

export interface ListPage {
  /** The records as a JSON array, or where they are large the parts of what is inside of one. */
  items: string | JsonParts;
  hasMore: boolean;
  /** Where the page ended; null where it shows nothing. */
  last: CursorPosition | null;
}

export interface Lists {
  /** @throws ApiError unauthenticated, query_too_expensive; FairShareFull */
  page(query: ListQuery, reader: PlanReader): Promise<ListPage>;
}

export interface ListsDeps extends PlanRunnerDeps {
  limits: ReadLimits;
  largeReads: FairShares;
  answers: FairShares;
}

const emptyPage: ListPage = { items: '[]', hasMore: false, last: null };

const tooExpensive = (field: string, scanRows: number) =>
  new ApiError(
    'query_too_expensive',
    `This list would read more than ${scanRows} records for "${field}", or look for longer than a second.`,
    {
      hint: 'Narrow it down, for example by "createdAt", or sort by "-createdAt" and page with "cursor".',
    },
  );

export const createLists = ({ limits, largeReads, answers, ...deps }: ListsDeps): Lists => {
  const { database, refresh, pieceBounds = usualPieceBounds } = deps;
  const run = createPlanRunner(deps);
  const planList = createListPlans(limits, {
    rows: pieceBounds.firstRows,
    ms: pieceBounds.pieceMs,
  });
  const openLargePage = createLargePages({ database, largeReads, answers });

  const find = async (asked: ListQuery, reader: PlanReader) => {
    const { search } = asked;
    if (search)
      return run(
        {
          asked: await withBuiltSearch(refresh, asked),
          plan: (query) => planSearch(query, search, limits),
          tooExpensive: tooManyFound,
        },
        reader,
      );
    const field = () => scannedFor(asked) ?? 'id';
    const refuse = () => tooExpensive(field(), limits.scanRows);
    return run({ asked, plan: planList, tooExpensive: refuse }, reader);
  };

  return {
    async page(query, reader) {
      checkRead(query.access);
      if (query.limit === 0 || query.access.rights.read === 'none') return emptyPage;
      const { items, hasMore, last, ...found } = await find(query, reader);
      return { items: items ?? openLargePage(found.query, found, reader), hasMore, last };
    },
  };
};
