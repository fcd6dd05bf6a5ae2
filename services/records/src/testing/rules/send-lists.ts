import { parse } from 'csv-parse/sync';
import { restColumn } from '../../transfer/cells.ts';
import type { TestBed } from '../test-bed.ts';
import { type Answer, ok } from './answers.ts';
import type { OperationOf } from './arbitrary-calls.ts';

const ownFields = new Set(['id', 'ownerId', 'groupId', 'createdAt', 'updatedAt']);
export const withoutSystemFields = (record: object): object =>
  Object.fromEntries(
    Object.entries(record)
      .filter(([name]) => !ownFields.has(name))
      .map(([name, value]) => [
        name,
        typeof value === 'object' && !Array.isArray(value) ? withoutSystemFields(value) : value,
      ]),
  );

export type Call = (method: string, path: string, body?: object) => ReturnType<TestBed['call']>;

export const toQuery = (parts: Record<string, string | undefined>): string => {
  const given = Object.entries(parts).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given as [string, string][]).toString();
};

export const toWhere = (where: OperationOf<'count'>['where']) =>
  where && JSON.stringify({ [where[0]]: where[1] });

export const toShown = ({ shown, includes }: Pick<OperationOf<'get'>, 'shown' | 'includes'>) => ({
  fields: shown?.join(),
  include: includes ? 'other:others' : undefined,
});

export const list = async (call: Call, operation: OperationOf<'list'>): Promise<Answer> => {
  const { where, group, sort, search, inPages } = operation;
  const query = {
    where: toWhere(where),
    group,
    search,
    sort: sort?.join(''),
    ...toShown(operation),
    total: '1',
    limit: inPages ? '2' : undefined,
  };
  const items: object[] = [];
  let cursor: string | undefined;
  for (;;) {
    const { status, body } = await call('GET', `?${toQuery({ ...query, cursor })}`);
    if (status !== 200) return { status };
    items.push(...body.items.map(withoutSystemFields));
    if (!body.hasMore) return ok({ items, total: body.total });
    cursor = body.nextCursor;
  }
};

export const exportLines = async (
  call: Call,
  operation: OperationOf<'export'>,
): Promise<Answer> => {
  const { where, group, shown, isCsv } = operation;
  const format = isCsv ? 'csv' : 'ndjson';
  const query = toQuery({ where: toWhere(where), group, fields: shown?.join(), format });
  const { status, body } = await call('GET', `/_export?${query}`);
  if (status !== 200) return { status };
  if (!isCsv) {
    const lines = body.split('\n').filter((line: string) => line !== '');
    return ok({ lines: lines.map((line: string) => withoutSystemFields(JSON.parse(line))) });
  }
  const [header = [], ...rows]: string[][] = parse(body);
  const isOwn = (name: string) => ownFields.has(name) || name === restColumn;
  const columns = header.filter((name) => !isOwn(name));
  const lines = rows.map((cells) => {
    const named = header.map((name, at) => [name, cells[at] ?? ''] as const);
    return Object.fromEntries(named.filter(([name, cell]) => !isOwn(name) && cell !== ''));
  });
  return ok({ columns: shown ? columns : columns.sort(), lines });
};
