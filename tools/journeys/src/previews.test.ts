import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type PlatformUnderTest,
  platformUnderTest,
  settled,
  usualModes,
} from './platform-under-test.ts';

describe.each(usualModes)('a preview of an app, services reached %s', (mode) => {
  let platform: PlatformUnderTest;
  let live: Awaited<ReturnType<PlatformUnderTest['newProject']>>;
  let preview: { id: string; headers: Record<string, string> };
  let user: Awaited<ReturnType<PlatformUnderTest['signUp']>>;
  const password = 'a good long password';

  const control = (method: string, path: string, body?: object, id = live.id) =>
    platform.control(method, `/projects/${id}${path}`, {
      token: live.owner.token,
      ...(body && { body }),
    });
  const count = async (headers: Record<string, string>) => {
    const { status, body } = await live.api('GET', '/db/orders/_count', {
      token: live.owner.token,
      headers,
    });
    return status === 200 ? body.count : status;
  };
  const everything = async () => {
    const { body } = await live.api('GET', '/db/orders?limit=100', { token: live.owner.token });
    return { items: body.items, config: (await control('GET', '/config')).body };
  };

  beforeAll(async () => {
    platform = await platformUnderTest(mode);
    live = await platform.newProject();
    user = await platform.signUp(live.id);
    await control('PUT', '/collections/orders', { access: 'private' });
    for (let n = 0; n < 5; n++)
      await live.api('POST', '/db/orders', { token: user.token, body: { data: { n } } });
    const { status, body } = await control('POST', '/preview', { records: true, passwords: true });
    expect(status).toBe(201);
    preview = { id: body.project.id, headers: { 'Backlot-Preview': body.token } };
  });
  afterAll(() => platform.stop());

  it('breaks without the app noticing: records, accounts and rules are its own', async () => {
    const before = await everything();
    const { headers } = preview;
    expect([await count({}), await count(headers)]).toEqual([5, 5]);
    expect((await live.api('GET', '/db/orders', { token: user.token, headers })).status).toBe(401);
    const signIn = { email: user.email, password };
    const there = await live.api('POST', '/auth/signin', { body: signIn, headers });
    expect(there.status).toBe(200);
    const { token } = there.body;
    expect((await live.api('GET', '/db/orders', { token })).status).toBe(401);
    const { body } = await live.api('GET', '/db/orders', { token, headers });
    expect(body.items.map(({ id }: { id: string }) => id)).toEqual(
      before.items.map(({ id }: { id: string }) => id),
    );
    for (const { id } of body.items)
      expect((await live.api('DELETE', `/db/orders/${id}`, { token, headers })).status).toBe(200);
    await control('DELETE', '/collections/orders', undefined, preview.id);
    const erased = await live.api('DELETE', '/auth/me', { token, headers });
    expect(erased.status).toBe(200);
    expect(await everything()).toEqual(before);
    expect((await live.api('GET', '/auth/me', { token: user.token })).status).toBe(200);
  });

  it('gives its config to the app, and no record', async () => {
    await control('PUT', '/config', { prompts: { greet: { system: 'Greet.' } } }, preview.id);
    await control('PUT', '/collections/orders', { access: 'shared' }, preview.id);
    const { headers } = preview;
    await live.api('POST', '/db/orders', { token: live.owner.token, headers, body: { data: {} } });
    const before = await everything();
    const plan = await control('POST', '/preview/promote', { dryRun: true });
    const named = ({ section, name, action }: Record<string, string>) => [section, name, action];
    expect(plan.body.changes.map(named)).toEqual([
      ['collections', 'orders', 'change'],
      ['prompts', 'greet', 'create'],
    ]);
    expect(await everything()).toEqual(before);
    expect((await control('POST', '/preview/promote', {})).status).toBe(200);
    const { items, config } = await everything();
    expect(items).toEqual(before.items);
    expect(config).toMatchObject({ collections: { orders: { access: 'shared' } } });
    expect(config).toEqual((await control('GET', '/config', undefined, preview.id)).body);
  });

  it('is reached by its token alone, until it is deleted', async () => {
    const before = await count({});
    for (const wrong of ['', 'x', `pv_${preview.id}_${'x'.repeat(43)}`])
      expect([400, 404]).toContain(await count({ 'Backlot-Preview': wrong }));
    expect((await control('DELETE', '/preview')).status).toBe(200);
    const { headers } = preview;
    const call = () => live.api('GET', '/db/orders', { token: live.owner.token, headers });
    expect((await settled(call, 410)).body.code).toBe('project_deleted');
    expect(await count({})).toBe(before);
  });
});
