import { type Identity, internalIdentity } from '@backlot/identity';
import { anonymous, asKey, asOwner, asUser } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, otherProject, type TestBed, userA, userB } from '../testing/test-bed.ts';

const red = '018f0000-0000-7000-8000-0000000000e1';
const inRed = { groups: [{ id: red, role: 'member' }] };

describe('files for other services', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const reader = ({ project, caller, userId, groups, ip }: Identity) => {
    const { id, number, ownerId } = project;
    return {
      project: { id, number, ownerId },
      caller,
      userId,
      ip,
      ...(groups && { groups }),
    };
  };
  const describeFiles = (identity: Identity, ...fileIds: string[]) =>
    bed.service.directories.files.describeFiles({ ...reader(identity), fileIds });
  const readFile = (projectNumber: number, fileId: string) =>
    bed.service.directories.files.readFile(projectNumber, fileId);
  const upload = async (content: string | Buffer, fields = {}, identity = asUser(userA)) =>
    String((await bed.upload(content, { identity, fields, name: 'a.txt' })).body.id);
  const { project } = asOwner();

  it('are described in the order asked for to who may read them, and left out for others', async () => {
    const open = await upload('open');
    const own = await upload('own', { visibility: 'private' });
    const shared = await upload('shared', { groupId: red }, asUser(userA, inRed));
    const seenBy = async (identity: Identity) =>
      (await describeFiles(identity, own, 'made up', shared, open)).map(({ id }) => id);
    for (const identity of [asOwner(), asKey(), asUser(userA, inRed)])
      expect(await seenBy(identity)).toEqual([own, shared, open]);
    expect(await seenBy(asUser(userA))).toEqual([own, open]);
    expect(await seenBy(asUser(userB, inRed))).toEqual([shared, open]);
    for (const identity of [anonymous(), asUser(userB)])
      expect(await seenBy(identity)).toEqual([open]);
    for (const identity of [
      asKey({ project: otherProject }),
      asUser(userA, { project: otherProject }),
    ])
      expect(await seenBy(identity)).toEqual([]);
    expect(await describeFiles(asOwner(), own)).toEqual([
      { id: own, name: 'a.txt', type: 'text/plain', size: 3 },
    ]);
  });

  it('are read whole, of their project alone, until they are deleted', async () => {
    const id = await upload('some bytes');
    expect(Buffer.from((await readFile(project.number, id)) ?? []).toString()).toBe('some bytes');
    expect(await readFile(otherProject.number, id)).toBeNull();
    expect(await readFile(project.number, 'made up')).toBeNull();
    const deleted = await bed.call('DELETE', `/storage/files/${id}`, { identity: asUser(userA) });
    expect(deleted.status).toBe(200);
    expect(await readFile(project.number, id)).toBeNull();
  });

  it('are not read into memory past 10 MiB', async () => {
    const id = await upload(Buffer.alloc(10 * 1024 * 1024 + 1, 'x'));
    await expect(readFile(project.number, id)).rejects.toThrow(RangeError);
  });

  it('are told over HTTP to services alone', async () => {
    const id = await upload('bytes');
    const asking = { ...reader(anonymous()), fileIds: [id] };
    const ask = (path: string, body: unknown, identity: Identity = internalIdentity) =>
      bed.call('POST', `/internal/files${path}`, { identity, body });
    expect((await ask('', asking)).body).toEqual(await describeFiles(anonymous(), id));
    const content = { projectNumber: project.number, fileId: id };
    expect((await ask('/content', content)).status).toBe(200);
    expect(await ask('/content', { ...content, fileId: 'made up' })).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
    for (const identity of [asOwner(), asKey(), asUser(userA), anonymous()]) {
      expect((await ask('', asking, identity)).status).toBe(401);
      expect((await ask('/content', content, identity)).status).toBe(401);
    }
    expect(await ask('', { fileIds: [id] })).toMatchObject({ status: 400 });
    expect(await ask('/content', { fileId: id })).toMatchObject({ status: 400 });
  });
});
