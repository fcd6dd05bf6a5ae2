import type { Pace } from '../compare.ts';
import type { LoadRequest } from '../load/load.ts';
import { type Bed, index, searchBy } from './bed.ts';
import { parts, words } from './seed.ts';

export interface Row {
  name: string;
  bound: number;
  needsIndex?: boolean;
  /** As many as the others unless stated. */
  connections?: number;
  /** Where many answers would come after the end of a usual round, and not be counted. */
  pace?: Pace;
  ours: Partial<LoadRequest>;
  bare: Partial<LoadRequest>;
}

export const some = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));

export const listPath = (query: Record<string, string>) =>
  `?${new URLSearchParams({ limit: '50', ...query })}`;

const foundTable = `ALTER TABLE bench.documents ADD COLUMN words tsvector
    GENERATED ALWAYS AS (to_tsvector('pg_catalog.simple', coalesce(data ->> 'about', ''))) STORED;
  CREATE INDEX ON bench.documents USING gin (words);
  CREATE INDEX ON bench.documents (((data ->> 'part')::int));`;

/** By words, and sums by group of a tenth of the records: from one caller and from many. */
export const foundRows = (connections: number): Row[] => {
  const search: Omit<Row, 'connections'> = {
    name: 'search',
    bound: 0.7,
    ours: { paths: some(200, (n) => listPath({ search: `w${(n * 7) % words}` })) },
    bare: { paths: some(200, (n) => `/search/w${(n * 7) % words}`) },
  };
  const where = (part: number) => JSON.stringify({ part });
  const sums: Omit<Row, 'connections'> = {
    name: 'sums',
    bound: 0.7,
    pace: { rounds: 5, roundSeconds: 5, restMs: 2000 },
    needsIndex: true,
    ours: {
      paths: some(
        parts,
        (n) =>
          `/_aggregate?${new URLSearchParams({ group: 'kind', sum: 'price', where: where(n) })}`,
      ),
    },
    bare: { paths: some(parts, (n) => `/sums/${n}`) },
  };
  return [search, sums].flatMap((row) => [
    { ...row, connections: 1 },
    { ...row, connections },
  ]);
};

/** What a search and a sum need is made after the other rows, whose writes would pay for it. */
export const prepareFound = async ({ origin, client }: Bed) => {
  await client.query(foundTable);
  await client.query('VACUUM ANALYZE bench.documents');
  await index(origin, 'bench', ['status', 'price', 'title', 'part']);
  await searchBy(origin, 'bench', ['about']);
};
