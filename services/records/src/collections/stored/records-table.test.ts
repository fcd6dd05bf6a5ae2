import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { ownTableName, recordsTable } from './records-table.ts';

const source = new URL('../../', import.meta.url);

describe('the table of a collection’s records', () => {
  it('is the shared one until its own is in use', () => {
    const collection = { projectNumber: 7, id: 3 };
    expect(recordsTable(collection)).toBe('records');
    expect(recordsTable({ ...collection, ownTable: 'filling' })).toBe('records');
    expect(recordsTable({ ...collection, ownTable: 'used' })).toBe(
      'records_large.p7_c3 AS records',
    );
  });

  it('has a name of numbers alone', () => {
    const id = '3; DROP TABLE records' as unknown as number;
    expect(() => ownTableName({ projectNumber: 7, id })).toThrow(SyntaxError);
  });

  it('is named by what moves and erases records, and by what looks for unused collections, alone', () => {
    const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && !/(\.test\.ts$|^testing\/)/.test(file),
    );
    const naming = files.filter((file) =>
      /(FROM|INTO|UPDATE|JOIN|USING)\s+records\b(?!\.)/.test(
        readFileSync(new URL(file, source), 'utf8'),
      ),
    );
    expect(naming.sort()).toEqual([
      'collections/places.ts', // of collections without a table of their own
      'erasure/erasure.ts',
      'giants/copy.ts',
    ]);
  });
});
