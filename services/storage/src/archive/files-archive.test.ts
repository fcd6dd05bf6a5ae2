import type { FileArchiveDirectory } from '@backlot/contract';
import { testProject } from '@backlot/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';

let bed: TestBed;
let part: FileArchiveDirectory;
beforeAll(async () => {
  bed = await createTestBed();
  const { directories } = bed.service as unknown as {
    directories: { filesArchive: FileArchiveDirectory };
  };
  part = directories.filesArchive;
});
afterAll(() => bed.close());

const project = { ...testProject, id: 'latter', number: 7001 };
const file = {
  id: '018f0000-0000-4000-8000-0000000000f1',
  name: 'grüße.txt',
  type: 'text/plain',
  size: 6,
  visibility: 'private',
  ownerId: '018f0000-0000-7000-8000-0000000000a1',
  groupId: null,
  record: { collection: 3, id: '01900000-0000-7000-8000-000000000001' },
  createdAt: '2026-01-01T00:00:00.000Z',
};
async function* pieces(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}
const take = (changes: object, ...texts: string[]) => {
  const line = JSON.stringify({ ...file, ...changes });
  return part.takeContent({ project, line, ip: '' }, pieces(...texts));
};
const list = async () => {
  const reading = { project, kind: 'files', ip: '', after: null, hasPasswords: false } as const;
  return (await part.readLines(reading)).text;
};

it('brings files back as they were, empty ones too, and counts them', async () => {
  const empty = { id: file.id.replace('f1', 'f2'), size: 0, type: 'text/plain', record: null };
  expect(await take({}, 'abc', 'def')).toEqual({});
  expect(await take(empty)).toEqual({});
  const lines = [file, { ...file, ...empty }].map((line) => `${JSON.stringify(line)}\n`);
  expect(await list()).toBe(lines.join(''));
  const read = (start: number) => part.readContent({ project, fileId: file.id, start });
  expect(Buffer.from((await read(0)) ?? []).toString()).toBe('abcdef');
  expect(Buffer.from((await read(4)) ?? []).toString()).toBe('ef');
  const totals = 'SELECT files, bytes FROM totals WHERE project_number = $1';
  expect(await bed.database.query(totals, [project.number])).toEqual([{ files: 2, bytes: 6 }]);
});

it.each<[string, object, string[]]>([
  ['fewer bytes', {}, ['abc']],
  ['more bytes', {}, ['abc', 'defg']],
  ['a name that is a path', { name: '../a.txt' }, ['abcdef']],
  ['no place in a project', { visibility: 'all' }, ['abcdef']],
])('takes no file that has %s, and keeps no byte of it', async (_what, changes, texts) => {
  const before = await list();
  const { refused } = await take({ id: file.id.replace('f1', 'f3'), ...changes }, ...texts);
  expect(refused?.code).toBe('invalid_body');
  expect(await list()).toBe(before);
  expect(await bed.database.query('SELECT FROM loose_blobs')).toEqual([]);
});

it('takes no file twice, and none past the quota', async () => {
  expect((await take({}, 'abc', 'def')).refused?.code).toBe('invalid_body');
  const size = 10 ** 15;
  expect((await take({ id: file.id.replace('f1', 'f4'), size }, 'a')).refused?.code).toBe(
    'storage_quota',
  );
  expect(await bed.database.query('SELECT FROM loose_blobs')).toEqual([]);
});
