import type { ArchiveDirectory, ArchiveKind } from '@backlot/contract';
import { asOwner, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';

let bed: TestBed;
let part: ArchiveDirectory;
beforeAll(async () => {
  bed = await createTestBed();
  await bed.service.start();
  const { directories } = bed.service as unknown as {
    directories: { recordsArchive: ArchiveDirectory };
  };
  part = directories.recordsArchive;
});
afterAll(() => bed.close());

let { number } = testProject;
const newProject = () => {
  number += 1;
  return { ...testProject, id: `p${number}`, number };
};
type Project = ReturnType<typeof newProject>;
const readPages = async (project: Project, kind: ArchiveKind, collection?: string) => {
  const pages: string[] = [];
  let after: string | null = null;
  do {
    const place = { project, kind, collection, ip: '' };
    const read = await part.readLines({ ...place, after, hasPasswords: false });
    if (read.text) pages.push(read.text);
    after = read.next;
  } while (after !== null);
  return pages;
};
const take = (project: Project, kind: ArchiveKind, text: string, collection?: string) =>
  part.takeLines({ project, kind, collection, ip: '', text });
const call = (project: Project, method: string, path: string, body?: unknown) =>
  bed.call(method, path, { identity: asOwner({ project }), ...(body !== undefined && { body }) });

const notes = '{"number":7,"name":"notes","access":"shared","madeBy":null}\n';
const id = '01900000-0000-7000-8000-000000000001';
const createdAt = new Date(0x019000000000).toISOString();
const line = (rest = ',"a":1', own = `"id":"${id}","ownerId":null`, updatedAt = createdAt) =>
  `{${own},"createdAt":"${createdAt}","updatedAt":"${updatedAt}"${rest}}\n`;

describe('records of an archive', () => {
  it('come back as they were, to the digit, with the pages that they had', async () => {
    const former = newProject();
    const create = Array.from({ length: 400 }, (_, n) => ({
      data: { n, text: 'ü"\\ '.repeat(n % 7 === 0 ? 3000 : 3) },
    }));
    for (let at = 0; at < 400; at += 40)
      await call(former, 'POST', '/db/notes/_batch', { create: create.slice(at, at + 40) });
    const one = await call(former, 'POST', '/db/notes', { data: { n: 0.5, groupId: 'x' } });
    await call(former, 'PATCH', `/db/notes/${one.body.id}`, { inc: { n: 1.5 } });

    const project = newProject();
    const [collections = ''] = await readPages(former, 'collections');
    expect(await take(project, 'collections', collections)).toEqual({});
    const pages = await readPages(former, 'records', 'notes');
    expect(pages.length).toBeGreaterThan(1);
    for (const page of pages) expect(await take(project, 'records', page, 'notes')).toEqual({});
    expect((await readPages(project, 'records', 'notes')).join('') === pages.join('')).toBe(true);
    expect(await readPages(project, 'collections')).toEqual([collections]);
    const { body } = await call(project, 'GET', '/db/notes/_count');
    expect(body.count).toBe(401);
    const got = await call(project, 'GET', `/db/notes/${one.body.id}`);
    const ofFormer = await call(former, 'GET', `/db/notes/${one.body.id}`);
    expect(got.body).toEqual(ofFormer.body);
  });

  it('make a collection that counts, finds and refuses as others do once its config is set', async () => {
    const project = newProject();
    await take(project, 'collections', notes);
    await take(project, 'records', line(), 'notes');
    const path = `/platform/projects/${project.id}/collections/notes`;
    const set = await call(project, 'PUT', path, { unique: ['a'] });
    expect(set.body.count).toBe(1);
    const filled = async () => {
      const [shown] = (await call(project, 'GET', path.replace('/notes', ''))).body.items;
      return shown.unique[0].state === 'ready';
    };
    await until(filled);
    const second = await call(project, 'POST', '/db/notes', { data: { a: 1 } });
    expect(second.body.code).toBe('not_unique');
    const found = await call(project, 'GET', `/db/notes?where=${encodeURIComponent('{"a":1}')}`);
    expect(found.body.items).toMatchObject([{ id, a: 1 }]);
  });

  it.each([
    [
      'an id that is no UUIDv7',
      line(undefined, `"id":"${id.replace('7000', '4000')}","ownerId":null`),
    ],
    ['another time than that of its id', line().replace(createdAt, '2020-01-01T00:00:00.000Z')],
    ['a change before its creation', line(undefined, undefined, '2020-01-01T00:00:00.000Z')],
    ['a change in the future', line(undefined, undefined, '2999-01-01T00:00:00.000Z')],
    ['an owner that is no id', line(undefined, `"id":"${id}","ownerId":"me"`)],
    ['no document', line(',"a":')],
    ['something behind it', `${line('').trimEnd()} {}\n`],
    ['its id twice', line(`,"id":"${id}"`)],
    ['a key that none may have', line(',"$a":1')],
    ['a number without an end', line(',"a":1e400')],
    ['too many levels', line(`,"a":${'['.repeat(40)}${']'.repeat(40)}`)],
    ['more than a record has', line(`,"a":"${'a'.repeat(1_100_000)}"`)],
    ['a record twice', line() + line()],
  ])('are refused where one has %s, and none of the page is there', async (_what, text) => {
    const project = newProject();
    await take(project, 'collections', notes);
    const { refused } = await take(project, 'records', text, 'notes');
    expect(refused?.code).toMatch(/^invalid_(body|data)$/);
    expect(await readPages(project, 'records', 'notes')).toEqual([]);
  });

  it('keep numbers that are more than a double', async () => {
    const numbers = ['9007199254740993', '0.1234567890123456789', '1.50', `1${'0'.repeat(300)}`];
    const project = newProject();
    await take(project, 'collections', notes);
    const text = line(`,"n": [${numbers.join(', ')}]`);
    expect(await take(project, 'records', text, 'notes')).toEqual({});
    expect(await readPages(project, 'records', 'notes')).toEqual([text]);
  });

  it('hand nothing to PostgreSQL that was not looked at', async () => {
    const project = newProject();
    await take(project, 'collections', notes);
    const unseen = ['"\\u0000"', '1e999999', `${'['.repeat(9000)}${']'.repeat(9000)}`, '{"$a":1}'];
    for (const [n, value] of unseen.entries()) {
      const own = `"id":"${id.slice(0, -1)}${n}","ownerId":null`;
      const text = line(`,"a":${value},"b":1.50,"a":${n}`, own);
      expect([value.slice(0, 20), await take(project, 'records', text, 'notes')]).toEqual([
        value.slice(0, 20),
        {},
      ]);
    }
    const long = line(`,"a":0.${'1'.repeat(20_000)}`);
    expect((await take(project, 'records', long, 'notes')).refused?.code).toBe('invalid_body');
    expect((await readPages(project, 'records', 'notes')).join('')).toContain('"a": 3, "b": 1.50');
  });

  it('come back with those with whom they are shared', async () => {
    const project = newProject();
    await take(project, 'collections', notes);
    await take(project, 'records', line(), 'notes');
    const user = '018f0000-0000-7000-8000-0000000000a1';
    const rest = `"sharedBy":null,"createdAt":"${createdAt}"}\n`;
    const record = `{"record":{"collection":7,"id":"${id}"},"userId":"${user}"`;
    const shares = `${record},"email":"","may":"read",${rest}${record},"email":"ute@example.org","may":"change",${rest}`;
    expect(await take(project, 'shares', shares)).toEqual({});
    expect(await readPages(project, 'shares')).toEqual([shares]);
    const listed = await call(project, 'GET', `/db/notes/${id}/_shares`);
    expect(listed.body.items).toMatchObject([{ userId: user }, { email: 'ute@example.org' }]);
    const again = await take(project, 'shares', shares);
    expect(again.refused?.code).toBe('invalid_body');
    const ofNone = await take(project, 'shares', shares.replaceAll(id, user));
    expect(ofNone.refused?.code).toBe('invalid_body');
    expect(await readPages(project, 'shares')).toEqual([shares]);
  });

  it('are refused where their collection is not there, two have one number, or they are too many', async () => {
    const project = newProject();
    const many = line().repeat(1001);
    expect((await take(project, 'records', many, 'notes')).refused?.message).toContain(
      '1000 lines',
    );
    expect((await take(project, 'records', line(), 'notes')).refused?.code).toBe('invalid_body');
    const twice = notes + notes.replace('notes', 'others');
    expect((await take(project, 'collections', twice)).refused?.code).toBe('conflict');
  });
});
