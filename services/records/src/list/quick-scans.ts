import { LRUCache } from 'lru-cache';
import type { ListQuery } from '../query/list-statement.ts';
import type { Selection } from '../query/selection.ts';
import type { Filter } from '../where/filter.ts';

/** Some thousand records, and a few hundred on a busy machine. */
const usualQuickMs = 20;
/** Weight of the latest where it took less than expected. */
const learning = 1 / 8;
const maxRemembered = 10_000;
/** Of a filter's fields and operators: one with more is not quick. */
const maxShapeLength = 200;

type Scan = Selection & Partial<Pick<ListQuery, 'sort' | 'offset'>>;

/**
 * Foresees which scans are quick: those that ask a collection for the same fields in the same way as quick ones have.
 * A single slow one, which may have waited for others' work, only doubles what is expected.
 */
export const createQuickScans = (quickMs = usualQuickMs) => {
  const expected = new LRUCache<string, number>({ max: maxRemembered });
  return {
    isQuick(scan: Scan): boolean {
      const key = keyFor(scan);
      const ms = key === undefined ? undefined : expected.get(key);
      return ms !== undefined && ms <= quickMs;
    },
    learn(scan: Scan, ms: number): void {
      const key = keyFor(scan);
      if (key === undefined) return;
      const before = expected.get(key) ?? ms;
      expected.set(key, ms > before ? Math.min(ms, 2 * before) : before + learning * (ms - before));
    },
  };
};

/** Undefined where the filter is long. */
const keyFor = ({ collection, filter, sort, offset }: Scan): string | undefined => {
  const { projectNumber, id } = collection;
  const shape = filterShape({ kind: 'and', filters: filter.conditions });
  if (shape.length > maxShapeLength) return undefined;
  const fields = sort?.fields.map(({ field }) => field) ?? [];
  return JSON.stringify([projectNumber, id, shape, fields, Boolean(offset)]);
};

/** What a filter asks for, without the values. */
const filterShape = (filter: Filter): string => {
  if (filter.kind === 'not') return `not ${filterShape(filter.filter)}`;
  if (filter.kind !== 'test') return `${filter.kind}(${filter.filters.map(filterShape).join()})`;
  const { field, test } = filter;
  return `${JSON.stringify(field)} ${test.op}${test.op === 'in' ? test.values.length : ''}`;
};
