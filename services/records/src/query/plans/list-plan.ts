import { type Driver, driverSlots, listDrivers, wantedFields } from '../by-index/drivers.ts';
import { createExactWalks } from '../by-index/exact-walks.ts';
import { slotListStatement } from '../by-index/slot-statement.ts';
import type { CursorKey } from '../cursor.ts';
import { type ListQuery, listStatement, type ReadLimits, type Stretch } from '../list-statement.ts';
import {
  type IsQuick,
  indexStretch,
  type Plan,
  type Queue,
  scanQueue,
  type Unanswered,
} from '../plan.ts';
import { createSmallLists, maxPipelinedLimit } from '../prepared/small-lists.ts';
import { scannedFor } from '../selection.ts';
import { type FoundPage, listPieces } from './list-pieces.ts';

type TextRow = readonly (string | null | undefined)[];

interface PageRow {
  items: string | null;
  ids: string[];
  sizes: number[];
  more: boolean;
  last_id: string | null;
  last_keys: string[];
  unfinished: boolean;
  exceeded: boolean;
  epoch?: number;
}

const parseCursorKey = (text: string): CursorKey => ({
  text: text.slice(1),
  isCut: text.startsWith('~'),
});

/** The page that a row of `listStatement`, and of those like it, has. */
export const readPage =
  (query: ListQuery) =>
  (row: unknown): FoundPage | Unanswered => {
    const { epoch, exceeded, unfinished, more, last_id, last_keys, ...found } = row as PageRow;
    if (epoch !== undefined && epoch !== query.collection.epoch) return 'stale';
    if (exceeded) return 'exceeded';
    if (unfinished) return 'unfinished';
    const last = last_id === null ? null : { keys: last_keys.map(parseCursorKey), id: last_id };
    return { ...found, hasMore: more, last, query };
  };

const isSmall = ({ limit, offset }: ListQuery) => limit <= maxPipelinedLimit && offset === 0;

const byKey = { kind: 'key', slots: [], wants: [] } as const;

/** The page that a row of texts has: the records, whether there are more, the last id, its key and the epoch. */
const readTexts =
  (query: ListQuery, isByIndex: boolean) =>
  (row: unknown): FoundPage | Unanswered => {
    const [items, more, id, key, epoch] = row as TextRow;
    if (isByIndex && Number(epoch) !== query.collection.epoch) return 'stale';
    if (!items) return 'unfinished';
    const keys = isByIndex && key ? [{ text: key, isCut: false }] : [];
    return {
      items,
      ids: [],
      sizes: [],
      query,
      hasMore: more === 't',
      last: id ? { keys, id } : null,
    };
  };

export type PlanList = (query: ListQuery, isQuick: IsQuick) => Plan<FoundPage>;

/** @param first what the first statement of a scan looks through; small collections need no further one */
export const createListPlans = (limits: ReadLimits, first: Stretch): PlanList => {
  const prepareSmallList = createSmallLists(limits);
  const findExactWalk = createExactWalks(limits);

  const planPrepared = (query: ListQuery): Plan<FoundPage> | undefined => {
    const statement = prepareSmallList(query);
    const next = () => planKey(query);
    return statement && { ...byKey, queue: 'none', statement, read: readTexts(query, false), next };
  };

  const planKey = (query: ListQuery): Plan<FoundPage> => ({
    ...byKey,
    queue: 'index',
    statement: listStatement(query, limits),
    read: readPage(query),
  });

  const planExact = (query: ListQuery, next: () => Plan<FoundPage>): Plan<FoundPage> => {
    const walk = isSmall(query) ? findExactWalk(query) : undefined;
    if (!walk) return next();
    const { slot, ...statement } = walk;
    const step = { kind: 'exact', queue: 'none', slots: [slot], wants: [] } as const;
    return { ...step, statement, read: readTexts(query, true), next };
  };

  const planByIndexes = (
    query: ListQuery,
    [driver, ...others]: readonly Driver[],
    queue: () => Queue,
  ): Plan<FoundPage> =>
    driver
      ? {
          kind: 'index',
          queue: 'index',
          slots: [...driverSlots(driver)],
          wants: [],
          statement: slotListStatement(query, driver, limits, indexStretch),
          read: readPage(query),
          next: () => planByIndexes(query, others, () => 'scans'),
        }
      : planScan(query, queue());

  const planScan = (query: ListQuery, queue: Queue): Plan<FoundPage> => {
    const step = { kind: 'scan', queue, slots: [] } as const;
    const wants = wantedFields(query, query.sort);
    const page = (found: ListQuery): Plan<FoundPage> => ({
      ...step,
      wants: [],
      statement: listStatement(found, limits),
      read: readPage(found),
    });
    return {
      ...step,
      wants,
      statement: listStatement(query, limits, first),
      read: readPage(query),
      next: () => ({ ...step, wants: [], pieces: listPieces(query, limits, page) }),
    };
  };

  return (query, isQuick) => {
    if (scannedFor(query) === undefined)
      return (
        (query.filter.bounds.length === 0 && isSmall(query) && planPrepared(query)) ||
        planKey(query)
      );
    return planExact(query, () =>
      planByIndexes(query, listDrivers(query), () => scanQueue(isQuick)),
    );
  };
};
