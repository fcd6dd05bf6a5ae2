import { type Database, StatementTimeout } from '@backlot/database';
import type { FairShares, YieldSlot } from '@backlot/fair-shares';
import { checkRead } from '../collections/access.ts';
import type { Collections } from '../collections/collections.ts';
import { onCurrentSlots, StaleSlots } from '../collections/current-slots.ts';
import type { Observations } from '../indexes/observations.ts';
import { countDriver, driverSlots, wantedFields } from '../query/by-index/drivers.ts';
import { slotCountStatement } from '../query/by-index/slot-statement.ts';
import type { ReadLimits } from '../query/list-statement.ts';
import {
  type SearchWords,
  tooManyFound,
  toSearchTerms,
  withBuiltSearch,
} from '../query/search-query.ts';
import { searchCountStatement } from '../query/search-statement.ts';
import { type Selection, scannedField } from '../query/selection.ts';
import { countAllSlice, countSlice, type Slice } from '../query/slice-statement.ts';
import type { Reader } from '../reader.ts';
import { inCollection } from '../sql.ts';
import { slotStretch } from './lists.ts';
import { createQuickScans } from './quick-scans.ts';
import { type SliceEnd, type Slicing, usualSlicing, walkInSlices } from './slices/slices.ts';

export interface Count {
  count: number;
  /** Estimated, because the collection has more records than one count may look through. */
  approximate?: true;
}

export interface Counts {
  /** @throws ApiError unauthenticated; FairShareFull */
  count(selection: Selection, reader: Reader): Promise<Count>;
}

export interface CountsDeps {
  database: Database;
  limits: ReadLimits;
  refresh: Collections['refresh'];
  scans: FairShares;
  /** For scans of kinds that were quick. */
  quickScans: FairShares;
  observations?: Observations;
  slicing?: Slicing;
}

/** Keys that one count looks at in a slot's index. */
const mostSlotKeys = 2_000_000;

/** Where the primary key alone is counted, a piece has so many times more rows. */
const keysPerRecord = 20;

export const createCounts = ({
  database,
  limits,
  refresh,
  scans,
  quickScans,
  observations,
  slicing = usualSlicing,
}: CountsDeps): Counts => {
  const keySlicing = {
    ...slicing,
    firstRows: slicing.firstRows * keysPerRecord,
    mostRows: slicing.mostRows * keysPerRecord,
  };

  const { isQuick, learn } = createQuickScans();

  /** All records within the bounds, without the other conditions. */
  const countBounded = async (selection: Selection, yieldSlot: YieldSlot): Promise<Count> => {
    let count = 0;
    const look = async (slice: Slice): Promise<SliceEnd> => {
      const { text, values } = countAllSlice(selection, slice);
      const [piece] = await database.scan<SliceEnd>(text, values);
      count += piece?.looked ?? 0;
      return piece ?? { next: null, looked: 0 };
    };
    const isWhole = await walkInSlices(look, Number.POSITIVE_INFINITY, keySlicing, yieldSlot);
    if (isWhole) return { count };
    const { collection, filter } = selection;
    const known = filter.bounds.length > 0 ? undefined : await readKnownCount(database, collection);
    return { count: Math.max(count, known?.count ?? 0), approximate: true };
  };

  const countFiltered = async (selection: Selection, yieldSlot: YieldSlot): Promise<Count> => {
    let seen = 0;
    let matching = 0;
    const look = async (slice: Slice): Promise<SliceEnd> => {
      const { text, values } = countSlice(selection, slice);
      const [piece] = await database.scan<SliceEnd & { matching: number }>(text, values);
      seen += piece?.looked ?? 0;
      matching += piece?.matching ?? 0;
      return piece ?? { next: null, looked: 0 };
    };
    const walk = walkInSlices(look, limits.scanRows, slicing, yieldSlot);
    const isWhole = await walk.catch((error: unknown) => {
      if (error instanceof StatementTimeout && seen > 0) return false;
      throw error;
    });
    if (isWhole) return { count: matching };
    const { count: total } = await countBounded(selection, yieldSlot);
    const estimate = Math.round((total * matching) / Math.max(1, seen));
    return { count: Math.max(estimate, matching), approximate: true };
  };

  /** Undefined where no slot leads to the answer within its stretch. */
  const countBySlot = async (selection: Selection): Promise<Count | undefined> => {
    const driver = countDriver(selection);
    if (!driver) return undefined;
    const { text, values } = slotCountStatement(selection, driver, slotStretch, mostSlotKeys);
    const [row] = await database
      .scan<{ count: number; unfinished: boolean; epoch: number }>(text, values)
      .catch((error: unknown) => {
        if (error instanceof StatementTimeout) return [];
        throw error;
      });
    if (row && row.epoch !== selection.collection.epoch) throw new StaleSlots();
    if (!row || row.unfinished) return undefined;
    for (const slot of driverSlots(driver)) observations?.used(selection.collection, slot);
    return { count: row.count };
  };

  const countScanned = async (selection: Selection, yieldSlot: YieldSlot): Promise<Count> => {
    const bySlot = await countBySlot(selection);
    if (bySlot) return bySlot;
    const startedAt = performance.now();
    const count = await countFiltered(selection, yieldSlot);
    const ms = performance.now() - startedAt;
    observations?.scanned(selection, wantedFields(selection), { ms, isSlow: ms > slicing.sliceMs });
    learn(selection, ms);
    return count;
  };

  const countFound = async (selection: Selection, words: SearchWords): Promise<Count> => {
    const terms = toSearchTerms(selection.collection, selection.access, words);
    const { text, values } = searchCountStatement(selection, terms, limits);
    const [row] = await database
      .scan<{ count: number; exceeded: boolean; epoch: number }>(text, values)
      .catch((error: unknown) => {
        if (error instanceof StatementTimeout) return [];
        throw error;
      });
    if (row && row.epoch !== selection.collection.epoch) throw new StaleSlots();
    if (!row || row.exceeded) throw tooManyFound();
    return { count: row.count };
  };

  return {
    async count(selection, reader) {
      const { access } = selection;
      checkRead(access);
      if (access.rights.read === 'none') return { count: 0 };
      const { search } = selection;
      if (search) {
        const current = await withBuiltSearch(refresh, selection);
        const { flow, signal } = reader;
        return scans.run(flow, () => countFound(current, search), { signal });
      }
      if (isUnfiltered(selection)) {
        const read = () => readKnownCount(database, selection.collection);
        const { flow, signal } = reader;
        const known = await scans.run(flow, read, { isQuick: true, signal });
        if (known?.isExact) return { count: known.count };
      }
      const count = scannedField(selection) === undefined ? countBounded : countScanned;
      const hasDriver = countDriver(selection) !== undefined;
      const shares = !hasDriver && isQuick(selection) ? quickScans : scans;
      return shares.run(
        reader.flow,
        (yieldSlot) => onCurrentSlots(refresh, selection, (current) => count(current, yieldSlot)),
        { isQuick: hasDriver, signal: reader.signal },
      );
    },
  };
};

const isUnfiltered = (selection: Selection) =>
  selection.filter.bounds.length === 0 && scannedField(selection) === undefined;

/** As the writes have counted them, which is exact once those from before were counted too. */
const readKnownCount = async (
  database: Database,
  { projectNumber, id }: Selection['collection'],
): Promise<{ count: number; isExact: boolean } | undefined> => {
  const [row] = await database.named<{ count: number; is_exact: boolean }>(
    'records_known_count',
    `SELECT (row_count + (SELECT coalesce(sum(d), 0) FROM count_delta WHERE ${inCollection}))::int8 AS count,
       counted_at IS NOT NULL AS is_exact
     FROM collections WHERE ${inCollection}`,
    [projectNumber, id],
  );
  return row && { count: row.count, isExact: row.is_exact };
};
