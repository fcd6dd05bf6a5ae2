import { operatorRoutes } from '@backlot/contract';
import { createSealer } from '@backlot/sealing';
import { asOperator, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, ownerA, platform, type TestBed } from '../testing/test-bed.ts';

const [older, newer] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const [newerId, olderId] = createSealer([newer, older]).keyNames.map((n) => n.toString('hex'));
const setting = 'BACKLOT_SECRETS_KEYS';
const identity = asOperator({ project: platform });

describe('sealed secrets', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({ masterKeys: [newer, older] });
  });
  afterAll(() => bed.close());

  for (const [route, path] of [
    [operatorRoutes.getSealedSecrets, '/sealed-secrets'],
    [operatorRoutes.resealSecrets, '/sealed-secrets/reseal'],
  ] as const)
    refusesStrangers(
      route,
      () => bed.http,
      () => ({ path }),
    );

  it('are counted and sealed again in every service, until the old key can be dropped', async () => {
    bed.others.aiOperations.old = 3;
    bed.others.authOperations.isDown = true;
    const project = await bed.project();
    const owner = await bed.owner(ownerA, project);
    const webhook = `/platform/projects/${project}/webhooks/orders`;
    const body = { url: 'https://shop.example/hook', on: ['payment.paid'] };
    const set = await bed.call('PUT', webhook, { identity: owner, body });
    expect(set.status).toBeLessThan(300);
    const sealOlder = `UPDATE webhooks SET sealed_previous = sealed_secret`;
    await bed.database.query(sealOlder);
    const withOlder = bed.anotherWith({ masterKeys: [older, newer] });
    expect(await withOlder.operations.reseal()).toMatchObject({ resealed: 2, old: 0 });

    const count = async () =>
      (await bed.call('GET', '/platform/sealed-secrets', { identity })).body;
    const reseal = async () =>
      (await bed.call('POST', '/platform/sealed-secrets/reseal', { identity })).body;
    expect(await count()).toMatchObject({
      services: expect.arrayContaining([
        {
          service: 'projects',
          old: 2,
          lost: 0,
          keys: [
            { setting, keyId: newerId, state: 'current', sealed: 0 },
            { setting, keyId: olderId, state: 'old', sealed: 2 },
          ],
        },
        { service: 'ai', old: 3, lost: 0, keys: [] },
      ]),
      missing: ['auth'],
    });
    expect((await reseal()).services).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ service: 'projects', resealed: 2, old: 0, lost: 0 }),
        expect.objectContaining({ service: 'ai', resealed: 2, old: 1, lost: 0 }),
      ]),
    );
    bed.others.authOperations.isDown = false;
    await reseal();
    const { services, missing } = await count();
    expect([services.every(({ old }: { old: number }) => old === 0), missing]).toEqual([true, []]);
    expect(await bed.anotherWith({ masterKeys: [older] }).operations.countSealed()).toEqual({
      old: 0,
      lost: 2,
      keys: [
        { setting, keyId: olderId, state: 'current', sealed: 0 },
        { setting, keyId: newerId, state: 'lost', sealed: 2 },
      ],
    });
  });
});
