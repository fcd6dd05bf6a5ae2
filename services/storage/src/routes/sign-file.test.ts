import { storageRoutes } from '@backlot/contract';
import { anonymous, asKey, asOwner, asUser, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, otherProject, type TestBed, userA, userB } from '../test-bed.ts';

describe('signFile', () => {
  let bed: TestBed;
  let id: string;
  let openId: string;
  beforeAll(async () => {
    bed = await createTestBed();
    const identity = asUser(userA);
    id = (await bed.upload('secret', { identity, fields: { visibility: 'private' } })).body.id;
    openId = (await bed.upload('open', { identity })).body.id;
  });
  afterAll(() => bed.close());
  refusesStrangers(
    storageRoutes.signFile,
    () => bed.http,
    () => ({ path: `/storage/files/${id}/sign`, body: { expiresIn: 60 } }),
  );

  const sign = (fileId: string, identity = asUser(userA), expiresIn: unknown = 60) =>
    bed.call('POST', `/storage/files/${fileId}/sign`, identity, { expiresIn });
  const statusAt = async (url: string) => (await bed.get(url)).status;

  it('gives an address that opens the file to anybody until its time is over', async () => {
    for (const identity of [asUser(userA), asOwner(), asKey()]) {
      const { status, body } = await sign(id, identity);
      expect(status).toBe(200);
      expect(Date.parse(body.expiresAt) % 1000).toBe(0);
      expect((await bed.get(body.url)).bytes.toString()).toBe('secret');
      bed.pass(61_000);
      expect(await statusAt(body.url)).toBe(403);
    }
  });

  it('is bound to the file, the project and the time', async () => {
    const { url } = (await sign(id)).body;
    const other = (await sign(openId)).body.url;
    const search = (text: string) => new URL(text).search;
    expect(await statusAt(url.replace(search(url), search(other)))).toBe(403);
    expect(await statusAt(url.replace(/expires=\d+/, 'expires=9999999999'))).toBe(403);
    expect(await statusAt(url.replace(/signature=.*/, 'signature=x'))).toBe(403);
    expect(await statusAt(url.replace(/expires=\d+&/, ''))).toBe(403);
    expect(await statusAt(url.replace(search(url), ''))).toBe(404);
    const elsewhere = await bed.get(url, { identity: anonymous({ project: otherProject }) });
    expect(elsewhere.status).toBe(403);
  });

  it('is given by the owner of the file and of the project alone', async () => {
    expect(await sign(id, asUser(userB))).toMatchObject({ status: 404 });
    expect(await sign(openId, asUser(userB))).toMatchObject({ status: 403 });
    expect(await sign(id, asKey({ project: otherProject }))).toMatchObject({ status: 404 });
    expect(await sign('nonsense')).toMatchObject({ status: 404 });
  });

  it.each([0, -1, 1.5, 604_801, '60', null])('refuses %j seconds', async (expiresIn) => {
    const answer = await sign(id, asUser(userA), expiresIn);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect(answer.body.error).toContain('"expiresIn"');
  });
});
