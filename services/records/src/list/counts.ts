import { type Database, StatementTimeout } from '@backlot/database';
import type { FairShares, YieldSlot } from '@backlot/fair-shares';
import { checkRead } from '../collections/access.ts';
import { and, startParameters } from '../sql.ts';
import type { ReadLimits } from './list-statement.ts';
import type { Reader } from './lists.ts';
import { boundsSql, conditionsSql, type Selection, scannedField } from './selection.ts';

export interface Count {
  count: number;
  /** Estimated from a sample, because the collection has more records than one scan may read. */
  approximate?: true;
}

export interface Counts {
  /** Exact without a filter. @throws ApiError unauthenticated; FairShareFull */
  count(selection: Selection, reader: Reader): Promise<Count>;
}

export interface CountsDeps {
  database: Database;
  limits: ReadLimits;
  scans: FairShares;
}

/** Sample size where a scan of the full size took too long. */
const smallSampleRows = 2000;

export const createCounts = ({ database, limits, scans }: CountsDeps): Counts => {
  /** All records within the bounds, without the other conditions. */
  const countBounded = async (selection: Selection): Promise<number> => {
    const parameters = startParameters(selection.collection);
    const [row] = await database.scan<{ count: number }>(
      `SELECT count(*) FROM records WHERE ${boundsSql(selection, parameters)}`,
      parameters.values,
    );
    return row?.count ?? 0;
  };

  /** Counts among the newest records, at most `maxRows` and one more. */
  const countSample = async (selection: Selection, maxRows: number) => {
    const parameters = startParameters(selection.collection);
    const bounds = boundsSql(selection, parameters);
    const conditions = conditionsSql(selection, parameters);
    const [row] = await database.scan<{ seen: number; matching: number }>(
      `SELECT count(*) AS seen, count(*) FILTER (WHERE ${and(['true', ...conditions])}) AS matching
       FROM (SELECT id, owner_id, created_at, updated_at, data FROM records
         WHERE ${bounds} ORDER BY id DESC LIMIT ${parameters.add(maxRows + 1, 'int')}) records`,
      parameters.values,
    );
    return row ?? { seen: 0, matching: 0 };
  };

  const estimate = async (
    selection: Selection,
    sample: { seen: number; matching: number },
    yieldSlot: YieldSlot,
  ) => {
    await yieldSlot();
    const total = await countBounded(selection);
    const count = Math.round((total * sample.matching) / Math.max(1, sample.seen));
    return { count: Math.max(count, sample.matching), approximate: true as const };
  };

  const countFiltered = async (selection: Selection, yieldSlot: YieldSlot): Promise<Count> => {
    try {
      const sample = await countSample(selection, limits.scanRows);
      if (sample.seen <= limits.scanRows) return { count: sample.matching };
      return await estimate(selection, sample, yieldSlot);
    } catch (error) {
      if (!(error instanceof StatementTimeout)) throw error;
      await yieldSlot();
      return estimate(selection, await countSample(selection, smallSampleRows), yieldSlot);
    }
  };

  return {
    async count(selection, { flow, signal }) {
      const { access } = selection;
      checkRead(access);
      if (access.rights.read === 'none') return { count: 0 };
      const count = async (yieldSlot: YieldSlot): Promise<Count> =>
        scannedField(selection) === undefined
          ? { count: await countBounded(selection) }
          : countFiltered(selection, yieldSlot);
      return scans.run(flow, count, { signal });
    },
  };
};
