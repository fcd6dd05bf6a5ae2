import type { Database } from '@backlot/database';
import { uuidv7 } from 'uuidv7';
import { Parameters } from '../sql.ts';
import { filterSql } from '../where/compile.ts';
import type { Filter } from '../where/filter.ts';
import { parseWhere } from '../where/parse.ts';

const ofList = (where: unknown): Filter => parseWhere(JSON.stringify(where));

/** Which of the documents each filter matches, in one round trip. */
export const evaluate = async (
  database: Database,
  documents: readonly unknown[],
  filters: readonly unknown[],
  parse: (where: unknown) => Filter = ofList,
): Promise<number[][]> => {
  const parameters = new Parameters([JSON.stringify(documents)]);
  const finds = filters.map((filter, i) => {
    const condition = filterSql(parse(filter), parameters);
    return `SELECT ${i} AS filter, n FROM documents WHERE ${condition}`;
  });
  const rows = await database.query<{ filter: number; n: number }>(
    `WITH documents AS MATERIALIZED (
       SELECT (n - 1)::int AS n, data, '${uuidv7()}'::uuid AS id, NULL::uuid AS owner_id, now() AS created_at, now() AS updated_at
       FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY d(data, n))
     ${finds.join(' UNION ALL ')} ORDER BY filter, n`,
    parameters.values,
  );
  const found = filters.map((): number[] => []);
  for (const { filter, n } of rows) found[filter]?.push(n);
  return found;
};
