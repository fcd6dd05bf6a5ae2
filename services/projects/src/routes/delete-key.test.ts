import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, ownerA, type TestBed } from '../testing/test-bed.ts';

describe('deleteKey', () => {
  let bed: TestBed;
  let id: string;
  beforeAll(async () => {
    bed = await createTestBed();
    id = await bed.project();
  });
  afterAll(() => bed.close());

  const create = async () => {
    const identity = await bed.owner(ownerA, id);
    const { body } = await bed.call('POST', `/platform/projects/${id}/keys`, {
      identity,
      body: { name: 'Server' },
    });
    return {
      keyId: String(body.id),
      keyHash: createHash('sha256').update(body.key).digest('base64url'),
    };
  };
  const revoke = async (keyId: string, projectId = id) =>
    bed.call('DELETE', `/platform/projects/${projectId}/keys/${keyId}`, {
      identity: await bed.owner(ownerA, projectId),
    });

  it('ends the key and sends the gateway its hash, once, under parallel calls', async () => {
    const { keyId, keyHash } = await create();
    await bed.takeEvents();
    const answers = await Promise.all([revoke(keyId), revoke(keyId)]);
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 404]);
    expect(await bed.service.directories.projects.findKey(keyHash)).toBeNull();
    expect(await bed.takeEvents()).toEqual([
      {
        topic: 'key.revoked',
        payload: { projectId: id, projectNumber: expect.any(Number), keyId, keyHash },
      },
    ]);
  });

  it('says 404 about unknown and malformed ids and about the key of another own project', async () => {
    const { keyId, keyHash } = await create();
    const other = await bed.project();
    const unknown = '018f0000-0000-7000-8000-000000000000';
    for (const id of [unknown, 'x', '%00', '%F0%9F%94%91', `${keyId}x`]) {
      expect(await revoke(id)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    }
    expect(await revoke(keyId, other)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await bed.service.directories.projects.findKey(keyHash)).toMatchObject({ id: keyId });
  });
});
