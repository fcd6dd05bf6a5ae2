import { until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PlatformUnderTest, platformUnderTest, usualModes } from './platform-under-test.ts';

describe.each(usualModes)('an owner sees what is read and spent, services reached %s', (mode) => {
  let platform: PlatformUnderTest;
  let project: Awaited<ReturnType<PlatformUnderTest['newProject']>>;
  const control = (method: string, path: string, body?: object) =>
    platform.control(method, path, { token: project.owner.token, ...(body && { body }) });
  const get = async (path: string) => {
    const { status, body } = await control('GET', `/projects/${project.id}${path}`);
    expect(status).toBe(200);
    return body;
  };
  const exposed = async () => {
    const { items } = await get('/exposure');
    return items.find(({ name }: { name: string }) => name === 'notes');
  };

  beforeAll(async () => {
    platform = await platformUnderTest(mode);
    project = await platform.newProject();
    await control('PUT', `/projects/${project.id}/collections/notes`, { access: 'shared' });
  });
  afterAll(() => platform.stop());

  it('counts strangers’ reads, and none of the owner’s as a stranger', async () => {
    const data = { mail: 'ada@example.org' };
    await project.api('POST', '/db/notes', { body: { data } });
    for (let n = 0; n < 3; n++)
      await project.api('GET', '/db/notes', {
        token: project.owner.token,
        headers: { 'Backlot-View-As': 'stranger' },
      });
    for (let n = 0; n < 2; n++) await project.api('GET', '/db/notes', {});
    const found = await until(async () => {
      const one = await exposed();
      return (one.reads.anonymous ?? 0) >= 2 && one;
    });
    expect(found.reads).toEqual({ anonymous: 2 });
    expect(found.fields).toEqual([{ field: 'mail', kind: 'email', isOpen: true }]);
    const users = found.stricter.find(({ rule }: { rule: string }) => rule === 'users');
    expect(users.refused).toBe(2);
    const { set, undo } = users;
    expect(
      (await control(set.method, set.path.slice('/api/platform'.length), set.body)).status,
    ).toBe(200);
    expect((await project.api('GET', '/db/notes', {})).status).toBe(401);
    await until(async () => (await get('/refusals')).items.length > 0);
    expect((await get('/refusals')).items).toEqual([
      { collection: 'notes', rule: 'read', caller: 'anonymous', refused: 1, done: 2 },
    ]);
    await control(undo.method, undo.path.slice('/api/platform'.length), undo.body);
    expect((await project.api('GET', '/db/notes', {})).status).toBe(200);
    expect((await get('/visits')).items.at(-1).visitors).toBe(1);
  });

  it('is told who spends the credits', async () => {
    const ask = { messages: [{ role: 'user', content: 'Name a teapot.' }] };
    expect((await project.api('POST', '/ai', { body: ask })).status).toBe(200);
    const owner = { token: project.owner.token, body: ask };
    expect((await project.api('POST', '/ai', owner)).status).toBe(200);
    const usage = (query: string) => get(`/usage?${query}`);
    await until(async () => (await usage('by=caller')).calls === 2);
    const { items } = await usage('by=caller');
    expect(items.map(({ caller }: { caller: string }) => caller).sort()).toEqual([
      'owner',
      'visitor',
    ]);
    expect((await usage('by=address')).items).toHaveLength(1);
    expect((await usage('route=generateText')).items.at(-1)).toMatchObject({ calls: 2 });
    expect((await usage('route=generateText')).items.at(-1).units).toBeGreaterThan(0);
    const { forecast } = (await control('GET', '/credits')).body;
    expect(forecast.millicreditsPerDay).toBeGreaterThan(0);
  });
});
