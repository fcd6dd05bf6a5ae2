import { type Database, StatementTimeout } from '@backlot/database';
import { checkRead } from './access.ts';
import type { ReadLimits } from './read-limits.ts';
import type { ScanSlots } from './scan-slots.ts';
import { boundsSql, conditionsSql, type Selection, scannedField } from './selection.ts';
import { all, startParameters } from './statement.ts';

export interface Count {
  count: number;
  /** The filter was tried on a sample, because the collection is larger than the budget. */
  approximate?: true;
}

export interface Counts {
  /** Exact without a filter. @throws ApiError unauthenticated, overloaded */
  count(selection: Selection): Promise<Count>;
}

export interface CountsDeps {
  database: Database;
  limits: ReadLimits;
  scanSlots: ScanSlots;
}

/** Records looked at where those of the whole budget took too long. */
const smallSample = 2000;

export const createCounts = ({ database, limits, scanSlots }: CountsDeps): Counts => {
  /** All records within the bounds of the primary key, whatever else is asked of them. */
  const countBounded = async (selection: Selection): Promise<number> => {
    const parameters = startParameters(selection.collection);
    const [row] = await database.query<{ count: number }>(
      `SELECT count(*) FROM records WHERE ${boundsSql(selection, parameters)}`,
      parameters.values,
    );
    return row?.count ?? 0;
  };

  /** Looks at the newest records, at most `budget` and one more. */
  const look = async (selection: Selection, budget: number) => {
    const parameters = startParameters(selection.collection);
    const bounds = boundsSql(selection, parameters);
    const conditions = conditionsSql(selection, parameters);
    const [row] = await database.query<{ seen: number; matching: number }>(
      `SELECT count(*) AS seen, count(*) FILTER (WHERE ${all(['true', ...conditions])}) AS matching
       FROM (SELECT id, owner_id, created_at, updated_at, data FROM records
         WHERE ${bounds} ORDER BY id DESC LIMIT ${parameters.add(budget + 1, 'int')}) records`,
      parameters.values,
    );
    return row ?? { seen: 0, matching: 0 };
  };

  const estimate = async (selection: Selection, sample: { seen: number; matching: number }) => {
    const total = await countBounded(selection);
    const count = Math.round((total * sample.matching) / Math.max(1, sample.seen));
    return { count: Math.max(count, sample.matching), approximate: true as const };
  };

  const countFiltered = async (selection: Selection): Promise<Count> => {
    try {
      const sample = await look(selection, limits.scanRows);
      if (sample.seen <= limits.scanRows) return { count: sample.matching };
      return await estimate(selection, sample);
    } catch (error) {
      if (!(error instanceof StatementTimeout)) throw error;
      return estimate(selection, await look(selection, smallSample));
    }
  };

  return {
    async count(selection) {
      const { access, collection } = selection;
      checkRead(access);
      if (access.rights.read === 'none') return { count: 0 };
      return scanSlots.run(collection.projectNumber, async () =>
        scannedField(selection) === undefined
          ? { count: await countBounded(selection) }
          : countFiltered(selection),
      );
    },
  };
};
