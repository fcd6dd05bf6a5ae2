import type { OperationOf } from './arbitrary-calls.ts';
import type { Data, Value } from './words.ts';

export type Aggregated = Record<string, unknown>;

const measure = (name: string, values: readonly Value[]): Value | null => {
  const numbers = values.filter((value) => typeof value === 'number');
  const texts = values.filter((value) => typeof value === 'string').sort();
  const sum = numbers.reduce((total, number) => total + number, 0);
  switch (name) {
    case 'sum':
      return sum;
    case 'avg':
      return numbers.length > 0 ? sum / numbers.length : null;
    case 'min':
      return numbers.length > 0 ? Math.min(...numbers) : (texts[0] ?? null);
    default:
      return numbers.length > 0 ? Math.max(...numbers) : (texts.at(-1) ?? null);
  }
};

/** The groups of `_aggregate`, the largest first. */
export const aggregate = (
  records: readonly Data[],
  by: string | undefined,
  measures: OperationOf<'aggregate'>['measures'],
): Aggregated[] => {
  const groups = Map.groupBy(records, (data) => (by === undefined ? null : (data[by] ?? null)));
  if (by === undefined && records.length === 0) groups.set(null, []);
  const made = [...groups].map(([group, members]) => ({
    ...(by !== undefined && { group }),
    count: members.length,
    ...Object.fromEntries(
      measures.map(([name, field]) => {
        const values = members.flatMap((data) => data[field] ?? []);
        return [name, { [field]: measure(name, values) }];
      }),
    ),
  }));
  return made.sort(
    (a, b) => b.count - a.count || (JSON.stringify(a.group) < JSON.stringify(b.group) ? -1 : 1),
  );
};
