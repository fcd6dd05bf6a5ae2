import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { ApiError } from '@backlot/contract';
import { identityHeader } from '@backlot/identity';
import { findTestRoute, signed, until } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type HeaderArgument, packed } from '../testing/packed.ts';
import { createTestBed, ownerA, ownerB, type TestBed } from '../testing/test-bed.ts';

let bed: TestBed;
beforeAll(async () => {
  bed = await createTestBed();
});
afterAll(() => bed.close());
beforeEach(() => {
  for (const archive of [bed.archives.usersArchive, bed.archives.recordsArchive])
    archive.onTake = async () => {};
});

const fileId = '018f0000-0000-7000-8000-0000000000f1';
const file = {
  id: fileId,
  name: 'a.txt',
  type: 'text/plain',
  size: 3,
  visibility: 'public',
  ownerId: null,
  groupId: null,
  record: null,
  createdAt: '2026-01-01T00:00:00.000Z',
};
const manifest = {
  format: 'backlot-project',
  version: 1,
  project: { id: 'former', name: 'Former' },
  includes: { records: true, passwords: false, files: true },
};
const config = {
  settings: { aiModel: 'small' },
  prompts: { helper: { system: 'You help.' } },
  webhooks: { main: { url: 'https://shop.example/hook', on: ['payment.paid'] } },
};

type Entries = Record<string, string>;
const usual: Entries = {
  'manifest.json': JSON.stringify(manifest),
  'users/000001.ndjson': '{"id":"a"}\n{"id":"b"}\n',
  'users/000002.ndjson': '{"id":"c"}\n',
  'collections/000001.ndjson':
    '{"number":1,"name":"notes","access":"shared","madeBy":null}\n{"number":2,"name":"tasks","access":"shared","madeBy":null}\n',
  'records/notes/000001.ndjson': '{"id":"r"}\n',
  'records/tasks/000001.ndjson': '{"id":"s"}\n',
  'files/000001.ndjson': `${JSON.stringify(file)}\n`,
  [`content/${fileId}`]: 'abc',
  'config.json': JSON.stringify(config),
};
const without = (...names: string[]): Entries =>
  Object.fromEntries(Object.entries(usual).filter(([name]) => !names.includes(name)));
/** With entries in front of another one. */
const withBefore = (place: string, more: Entries): Entries =>
  Object.fromEntries(
    Object.entries(usual).flatMap((entry) =>
      entry[0] === place ? [...Object.entries(more), entry] : [entry],
    ),
  );

const importAs = async (ownerId: string, body: Uint8Array, query = '') =>
  bed.call('POST', `/platform/projects/import${query}`, {
    identity: await bed.owner(ownerId),
    body,
    headers: { 'content-type': 'application/x-tar' },
  });
const readExport = async (id: string) => {
  const path = `/platform/projects/${id}/export?files=1`;
  return bed.call('GET', path, { identity: await bed.owner(ownerA, id) });
};
const numbers = async () => {
  const rows = await bed.database.query<{ number: number }>('SELECT number FROM projects');
  return rows.map(({ number }) => number).sort();
};

describe('importProject', () => {
  it('makes a project whose export is the archive again', async () => {
    const archive = await packed(usual);
    const { status, body } = await importAs(ownerA, archive, '?name=Latter');
    expect([status, body.project.name, body.left]).toEqual([201, 'Latter', []]);
    const { id } = body.project;
    const exported = await readExport(id);
    expect(exported.headers.get('content-type')).toBe('application/x-tar');
    const again = String(exported.body);
    for (const [name, text] of Object.entries(without('manifest.json', 'config.json'))) {
      expect(again).toContain(name);
      expect(again).toContain(text);
    }
    const read = await bed.call('GET', `/platform/projects/${id}/config`, {
      identity: await bed.owner(ownerA, id),
    });
    expect(read.body).toMatchObject(config);
    const webhook = await bed.call('GET', `/platform/projects/${id}/webhooks/main`, {
      identity: await bed.owner(ownerA, id),
    });
    expect(webhook.body).toMatchObject({
      state: 'off',
      offReason: expect.stringContaining('copy'),
    });
  });

  const symlink: HeaderArgument = { name: 'users/000001.ndjson', type: 'symlink', linkname: '/' };
  it.each<[string, () => Promise<Uint8Array> | Uint8Array]>([
    ['no tar', () => Buffer.from('Hello! '.repeat(500))],
    ['compressed', async () => gzipSync(await packed(usual))],
    ['empty', () => Buffer.alloc(1024)],
    ['of a foreign program', () => packed({ 'index.html': '<p>' })],
    ['of another version', () => packed({ 'manifest.json': '{"format":"backlot-project"}' })],
    ['without its config', () => packed(without('config.json'))],
    ['with a way out', () => packed(withBefore('config.json', { '../config.json': '{}' }))],
    ['with an absolute way', () => packed(withBefore('config.json', { '/etc/passwd': 'a' }))],
    ['with a link', () => packed(without('users/000001.ndjson'), symlink)],
    ['with a folder', () => packed(usual, { name: 'records/', type: 'directory' })],
    [
      'with a long header',
      () => packed(withBefore('config.json', { [`${'ü'.repeat(200)}`]: 'a' })),
    ],
    [
      'in another order',
      () => packed(withBefore('config.json', { 'users/000003.ndjson': '{}\n' })),
    ],
    ['with a gap', () => packed(without('users/000001.ndjson'))],
    [
      'with a page twice',
      () => packed(withBefore('config.json', { 'files/000001.ndjson': 'a\n' })),
    ],
    ['with an empty page', () => packed({ ...usual, 'users/000001.ndjson': '' })],
    [
      'with too large a page',
      () => packed({ ...usual, 'users/000001.ndjson': 'a'.repeat(2_200_000) }),
    ],
    ['with a file that is not listed', () => packed(without('files/000001.ndjson'))],
    ['with more of a file', () => packed({ ...usual, [`content/${fileId}`]: 'abcd' })],
    ['with no text', () => packed({ ...usual, 'users/000001.ndjson': Buffer.from([0xff, 0xfe]) })],
    ['with another config', () => packed({ ...usual, 'config.json': '{"keys":{}}' })],
    [
      'with what stands behind its end',
      async () => Buffer.concat([await packed(usual), await packed({ 'manifest.json': '{}' })]),
    ],
  ])('refuses an archive that is %s, and leaves nothing', async (_what, make) => {
    const before = await numbers();
    const { status, body } = await importAs(ownerA, await make());
    expect([status, body.code]).toEqual([400, 'invalid_body']);
    expect(await numbers()).toEqual(before);
    expect(
      await bed.database.query('SELECT FROM projects WHERE importing_until IS NOT NULL'),
    ).toEqual([]);
  });

  it('has erased what others have taken before one of them refuses', async () => {
    let taken = 0;
    bed.archives.recordsArchive.onTake = async ({ project }) => {
      taken = project.number;
      throw new ApiError('quota_reached', 'There is no more room.');
    };
    const { status, body } = await importAs(ownerA, await packed(usual));
    expect([status, body.code]).toEqual([403, 'quota_reached']);
    const erased = await bed.take('project.erased');
    expect(erased.map(({ projectNumber }) => projectNumber)).toContain(taken);
  });

  it('says that a service is away, and not that the archive is wrong', async () => {
    bed.archives.usersArchive.onTake = async () => Promise.reject(new Error('auth is down'));
    const { status, body } = await importAs(ownerA, await packed(usual));
    expect([status, body.code]).toEqual([503, 'unavailable']);
  });

  it('is known to nobody until it has ended, one at a time, and erased where its process is gone', async () => {
    const { promise: goesOn, resolve: goOn } = Promise.withResolvers<void>();
    const { promise: isThere, resolve: begun } = Promise.withResolvers<string>();
    bed.archives.recordsArchive.onTake = async ({ project }) => {
      begun(project.id);
      await goesOn;
    };
    const archive = await packed(usual);
    const first = importAs(ownerA, archive);
    const id = await isThere;
    expect(await bed.service.directories.projects.findProject(id)).toBeNull();
    const listed = await bed.call('GET', '/platform/projects?limit=100', {
      identity: await bed.owner(ownerA),
    });
    expect(listed.body.items.map((project: { id: string }) => project.id)).not.toContain(id);
    expect((await importAs(ownerA, archive)).body.code).toBe('conflict');

    const another = bed.another();
    const rows = () => bed.database.query('SELECT FROM projects WHERE id = $1', [id]);
    bed.pass(90_000);
    await another.sweepImports();
    expect(await rows()).toHaveLength(1);
    bed.pass(30_000);
    await another.sweepImports();
    expect(await rows()).toHaveLength(0);
    // One that was only slow makes no project either.
    goOn();
    expect((await first).status).toBe(503);
    expect(await rows()).toHaveLength(0);
  });

  it('ends with its caller, wherever they leave', async () => {
    const archive = await packed(usual);
    const rows = () => bed.database.query('SELECT FROM projects WHERE importing_until IS NOT NULL');
    const path = '/platform/projects/import';
    for (const sentBytes of [1024, 4096, archive.length - 512]) {
      const identity = await bed.owner(ownerA);
      const call = request(bed.http.url + path, {
        method: 'POST',
        headers: {
          [identityHeader]: signed(identity, findTestRoute('POST', path), bed.now()),
          'content-type': 'application/x-tar',
          'content-length': archive.length,
        },
      });
      call.on('error', () => {});
      call.write(archive.subarray(0, sentBytes));
      await until(async () => (await rows()).length === 1);
      call.destroy();
      await until(async () => (await rows()).length === 0);
    }
  });

  it('counts among the projects of its owner, however many come at once', async () => {
    const strict = await createTestBed({ maxProjectsPerOwner: 1 });
    const identity = await strict.owner(ownerB);
    const call = async () =>
      strict.call('POST', '/platform/projects/import', {
        identity,
        body: await packed(usual),
        headers: { 'content-type': 'application/x-tar' },
      });
    const all = await Promise.all([call(), call(), call()]);
    expect(all.filter(({ status }) => status === 201)).toHaveLength(1);
    expect((await call()).body.code).toBe('project_limit');
    await strict.close();
  });
});

describe('copyProject', () => {
  const copy = async (id: string, body: object) =>
    bed.call('POST', `/platform/projects/${id}/copy`, {
      identity: await bed.owner(ownerA, id),
      body,
    });

  it('copies the config alone unless more is asked for', async () => {
    const { body } = await importAs(ownerA, await packed(usual));
    const { id } = body.project;
    const bare = await copy(id, { name: 'Bare' });
    expect([bare.status, bare.body.project.settings]).toEqual([201, { aiModel: 'small' }]);
    expect(String((await readExport(bare.body.project.id)).body)).not.toContain('users/');
    const whole = await copy(id, { name: 'Whole', records: true, files: true });
    const text = String((await readExport(whole.body.project.id)).body);
    for (const name of ['users/000002.ndjson', 'records/tasks/000001.ndjson', `content/${fileId}`])
      expect(text).toContain(name);
    expect((await copy(id, { name: 'Files', files: true })).body.code).toBe('invalid_body');
  });
});
