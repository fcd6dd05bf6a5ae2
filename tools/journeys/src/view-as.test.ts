import { createClient } from '@backlot/client';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PlatformUnderTest, platformUnderTest, usualModes } from './platform-under-test.ts';

describe.each(usualModes)('an owner looks at records, services reached %s', (mode) => {
  let platform: PlatformUnderTest;
  let project: Awaited<ReturnType<PlatformUnderTest['newProject']>>;
  let user: Awaited<ReturnType<PlatformUnderTest['signUp']>>;
  let userId: string;
  const count = async (as?: string) => {
    const { status, body } = await project.api('GET', '/db/orders/_count', {
      token: project.owner.token,
      ...(as !== undefined && { headers: { 'Backlot-View-As': as } }),
    });
    return status === 200 ? body.count : status;
  };

  beforeAll(async () => {
    platform = await platformUnderTest(mode);
    project = await platform.newProject();
    user = await platform.signUp(project.id);
    userId = (await project.api('GET', '/auth/me', { token: user.token })).body.user.id;
    await platform.control('PUT', `/projects/${project.id}/collections/orders`, {
      token: project.owner.token,
      body: { access: { read: ['owner', 'role:staff'], create: ['users'], change: ['owner'] } },
    });
    await project.api('POST', '/db/orders', { token: user.token, body: { data: { n: 1 } } });
    await project.api('POST', '/db/orders', {
      token: project.owner.token,
      body: { data: { n: 2 } },
    });
  });
  afterAll(() => platform.stop());

  it('as a stranger, as a user and as staff, and writes nothing so', async () => {
    expect(await count()).toBe(2);
    expect(await count('stranger')).toBe(401);
    expect(await count(`user:${userId}`)).toBe(1);
    expect(await count('role:staff')).toBe(2);
    expect(await count('user:018f0000-0000-7000-8000-000000000000')).toBe(404);
    const write = await project.api('POST', '/db/orders', {
      token: project.owner.token,
      headers: { 'Backlot-View-As': `user:${userId}` },
      body: { data: { n: 3 } },
    });
    expect([write.status, write.body.code]).toEqual([400, 'invalid_header']);
    expect(await count()).toBe(2);
  });

  it('with a client that looks as a user, and by which nothing is written', async () => {
    const client = createClient(`${platform.url}/api/runtime/${project.id}`, {
      viewAs: `user:${userId}`,
      storage: { get: () => project.owner.token, set() {} },
    });
    const orders = client.db('orders');
    expect((await orders.list()).items).toMatchObject([{ n: 1 }]);
    await expect(orders.create({ n: 3 })).rejects.toMatchObject({ code: 'invalid_header' });
    const refused = new Promise((resolve) => {
      orders.subscribe({ onError: resolve }, () => {});
    });
    expect(await refused).toMatchObject({ code: 'invalid_header' });
    expect(await count()).toBe(2);
  });
});
