import type { ImageAnswer } from '@backlot/contract';
import { type Identity, internalIdentity } from '@backlot/identity';
import { anonymous, asKey, asOwner, asUser } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { createTestBed, otherProject, type TestBed, userA, userB } from '../testing/test-bed.ts';

const red = '018f0000-0000-7000-8000-0000000000e1';
const member = asUser(userB, { groups: [{ id: red, role: 'member' }] });

const picture = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: 'red' } })
    .png()
    .toBuffer();

describe('images for other services', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const asking = (fileId: string, { project, caller, userId, groups, ip }: Identity) => {
    const { id, number, ownerId } = project;
    return {
      project: { id, number, ownerId },
      caller,
      userId,
      ip,
      fileId,
      ...(groups && { groups }),
    };
  };
  const read = (fileId: string, identity: Identity): Promise<ImageAnswer> =>
    bed.service.directories.images.readImage(asking(fileId, identity));
  const upload = async (content: Buffer | string, fields = {}, identity = asUser(userA)) =>
    String((await bed.upload(content, { identity, fields })).body.id);
  const sizeIn = async (answer: ImageAnswer) => {
    if (!('data' in answer)) throw new Error(answer.refused.message);
    const { format, width, height } = await sharp(Buffer.from(answer.data, 'base64')).metadata();
    return [format, width, height];
  };

  it('are JPEGs of at most 1,024 pixels a side, never enlarged', async () => {
    const id = await upload(await picture(3000, 1500));
    for (let n = 0; n < 2; n++)
      expect(await sizeIn(await read(id, anonymous()))).toEqual(['jpeg', 1024, 512]);
    const small = await upload(await picture(20, 10));
    expect(await sizeIn(await read(small, anonymous()))).toEqual(['jpeg', 20, 10]);
  });

  it('are given to who may read the file, and are no files to others', async () => {
    const content = await picture(20, 10);
    const own = await upload(content, { visibility: 'private' });
    const groups = asUser(userA, { groups: [{ id: red, role: 'member' }] });
    const shared = await upload(content, { groupId: red }, groups);
    const isSeen = async (id: string, identity: Identity) => {
      const answer = await read(id, identity);
      if ('refused' in answer) expect(answer.refused.code).toBe('not_found');
      return 'data' in answer;
    };
    for (const identity of [asUser(userA), asOwner(), asKey()])
      expect(await isSeen(own, identity)).toBe(true);
    for (const identity of [member, groups, asOwner()])
      expect(await isSeen(shared, identity)).toBe(true);
    for (const identity of [
      anonymous(),
      asUser(userB),
      asKey({ project: otherProject }),
      asUser(userA, { project: otherProject }),
    ]) {
      expect(await isSeen(own, identity)).toBe(false);
      expect(await isSeen(shared, identity)).toBe(false);
    }
    expect(await isSeen(shared, asUser(userA))).toBe(false);
    expect(await isSeen('made up', asKey())).toBe(false);
  });

  it('are refused where the file is none', async () => {
    for (const content of ['text', '<svg xmlns="http://www.w3.org/2000/svg"/>'])
      expect(await read(await upload(content), anonymous())).toMatchObject({
        refused: { code: 'invalid_query' },
      });
  });

  it('are told over HTTP to services alone', async () => {
    const id = await upload(await picture(20, 10));
    const body = asking(id, anonymous());
    const ask = (identity: Identity, asked: unknown = body) =>
      bed.call('POST', '/internal/images', { identity, body: asked });
    expect((await ask(internalIdentity)).body).toEqual(await read(id, anonymous()));
    for (const identity of [asOwner(), asKey(), asUser(userA), anonymous()])
      expect((await ask(identity)).status).toBe(401);
    expect(await ask(internalIdentity, { fileId: id })).toMatchObject({ status: 400 });
  });
});
