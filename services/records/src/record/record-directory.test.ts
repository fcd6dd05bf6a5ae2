import type { FileReader } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { anonymous, asKey, asOwner, asUser, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

const group = '018f0000-0000-7000-8000-000000000901';

describe('what others ask of a record', () => {
  let bed: TestBed;
  let recordId: string;
  const inGroup = asUser(ada, { groups: [{ id: group, role: 'member' }] });
  beforeAll(async () => {
    bed = await createTestBed();
    const access = {
      read: ['group', 'role:staff'],
      create: ['group'],
      change: ['owner'],
    };
    const path = `/platform/projects/${testProject.id}/collections/chat`;
    await bed.call('PUT', path, { identity: asOwner(), body: { access } });
    const { body } = await bed.call('POST', '/db/chat', {
      identity: inGroup,
      body: { data: { text: 'hi' }, groupId: group },
    });
    recordId = body.id;
  });
  afterAll(() => bed.close());

  const toReader = ({ project, caller, userId, role, groups, ip }: Identity): FileReader => ({
    project: { id: project.id, number: project.number, ownerId: project.ownerId },
    caller,
    userId,
    ip,
    ...(role !== undefined && { role }),
    ...(groups && { groups }),
  });
  const records = () => bed.service.directories.records;
  const mayChange = (identity: Identity, id = recordId, collection = 'chat') =>
    records().mayChange({ ...toReader(identity), collection, recordId: id });

  it('is whether a caller may change it, and why not', async () => {
    const may = { collectionId: expect.any(Number) };
    expect(await mayChange(inGroup)).toEqual(may);
    expect(await mayChange(asKey())).toEqual(may);
    for (const [identity, code] of [
      [asUser(bob, { groups: [{ id: group, role: 'member' }] }), 'forbidden'],
      [asUser(bob), 'not_found'],
      [anonymous(), 'unauthenticated'],
      [asKey({ project: { ...testProject, id: 'elsewhere', number: 77 } }), 'not_found'],
    ] as const)
      expect(await mayChange(identity)).toMatchObject({ refused: { code } });
    expect(await mayChange(asKey(), bob)).toMatchObject({ refused: { code: 'not_found' } });
    expect(await mayChange(asKey(), 'nonsense')).toMatchObject({ refused: { code: 'not_found' } });
    expect(await mayChange(asKey(), recordId, 'none')).toMatchObject({
      refused: { code: 'not_found' },
    });
  });

  it('is whether a caller may read it, under whatever name its collection has, until it is gone', async () => {
    const answer = await mayChange(inGroup);
    if (!('collectionId' in answer)) throw new Error('refused');
    const mayRead = (identity: Identity, id = recordId, { collectionId } = answer) =>
      records().mayRead({ ...toReader(identity), collectionId, recordId: id });
    const asked: [Identity, boolean][] = [
      [inGroup, true],
      [asUser(bob, { role: 'staff' }), true],
      [asKey(), true],
      [asUser(ada), false],
      [anonymous(), false],
      [asKey({ project: { ...testProject, id: 'elsewhere', number: 77 } }), false],
    ];
    const check = async () => {
      for (const [identity, expected] of asked) expect(await mayRead(identity)).toBe(expected);
    };
    await check();
    expect(await mayRead(asKey(), bob)).toBe(false);
    expect(await mayRead(asKey(), recordId, { collectionId: 4711 })).toBe(false);
    const path = `/platform/projects/${testProject.id}/collections/chat`;
    const renamed = await bed.call('PATCH', path, { identity: asOwner(), body: { name: 'talk' } });
    expect(renamed.status).toBe(200);
    await check();
    await bed.call('DELETE', `/db/talk/${recordId}`, { identity: asKey() });
    expect(await mayRead(asKey())).toBe(false);
  });
});
