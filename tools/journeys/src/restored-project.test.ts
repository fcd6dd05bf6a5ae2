import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PlatformUnderTest, platformUnderTest, upstreamModes } from './platform-under-test.ts';

const main = fileURLToPath(new URL('../../ops/src/main.ts', import.meta.url));
const operatorToken = 'an-operator-token-for-this-test';

describe.each(upstreamModes)('a project as it was at a time, services %s', (mode) => {
  let platform: PlatformUnderTest;
  beforeAll(async () => {
    platform = await platformUnderTest(mode, { BACKLOT_OPERATOR_TOKEN: operatorToken });
  });
  afterAll(() => platform.stop());

  const newShop = async () => {
    const { id, owner, api } = await platform.newProject();
    const { token } = owner;
    const send = async (method: string, path: string, data?: object) => {
      const body = data && { body: { data } };
      const answer = await api(method, path, { token, ...body });
      expect([method, path, answer.status < 300]).toEqual([method, path, true]);
      return answer.body;
    };
    const create = async (name: string, stock = 1): Promise<string> =>
      (await send('POST', '/db/goods', { name, stock })).id;
    return { id, owner, send, create };
  };
  const copy = (id: string, token: string, body: object) =>
    platform.control('POST', `/projects/${id}/copy`, { token, body });
  const goodsOf = async (id: string, token: string) => {
    const path = '/db/goods?sort=createdAt&limit=100';
    const { body } = await platform.runtime(id)('GET', path, { token });
    return body.items.map(({ name, stock }: { name: string; stock: number }) => `${name} ${stock}`);
  };
  /** Behind all that was written, and before all that comes. */
  const takeTime = async () => {
    const written = Date.now();
    await until(() => Date.now() > written);
    const time = Date.now();
    await until(() => Date.now() > time);
    return new Date(time).toISOString();
  };

  it('has what was there then beside the live one, whatever was changed, deleted and made since', async () => {
    const { id, owner, send, create } = await newShop();
    await create('kept');
    const changed = await create('changed', 5);
    const gone = await create('deleted since', 7);
    const before = await create('deleted before');
    await send('DELETE', `/db/goods/${before}`);
    const shared = await create('shared');
    await platform.runtime(id)('PUT', `/db/goods/${shared}/_shares`, {
      token: owner.token,
      body: { email: 'friend@example.org', may: 'read' },
    });
    const time = await takeTime();
    for (const stock of [4, 3, 2]) await send('PATCH', `/db/goods/${changed}`, { stock });
    await send('DELETE', `/db/goods/${gone}`);
    await create('made since');
    const live = await goodsOf(id, owner.token);

    const body = { name: 'As it was', records: true, asOf: time };
    const { status, body: made } = await copy(id, owner.token, body);
    expect([status, made.left]).toEqual([201, []]);
    expect(await goodsOf(made.project.id, owner.token)).toEqual([
      'kept 1',
      'changed 5',
      'deleted since 7',
      'shared 1',
    ]);
    expect(await goodsOf(id, owner.token)).toEqual(live);
  });

  it('is made by the operator for its owner', async () => {
    const { id, owner, send, create } = await newShop();
    const good = await create('bread', 9);
    const time = await takeTime();
    await send('DELETE', `/db/goods/${good}`);
    const args = [
      'restore-project-as-of',
      '--project-id',
      id,
      '--as-of',
      time,
      '--name',
      'Rescued',
    ];
    const { stdout } = await promisify(execFile)(process.execPath, [main, ...args], {
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        BACKLOT_HOST: platform.url,
        BACKLOT_OPERATOR_TOKEN: operatorToken,
      },
    });
    const { project } = JSON.parse(stdout);
    expect(project.name).toBe('Rescued');
    expect(await goodsOf(project.id, owner.token)).toEqual(['bread 9']);
  });

  it('comes in pages without a gap, also where nothing of one is left', async () => {
    const { id, owner, send } = await newShop();
    const time = await takeTime();
    for (let n = 0; n < 6; n++) {
      const create = Array.from({ length: 100 }, (_, at) => ({ name: `${n}-${at}`, stock: 1 }));
      await platform.runtime(id)('POST', '/db/goods/_batch', {
        token: owner.token,
        body: { create: create.map((data) => ({ data })) },
      });
    }
    const last = (await send('POST', '/db/goods', { name: 'last', stock: 1 })).id;
    const later = await takeTime();
    await send('DELETE', `/db/goods/${last}`);
    const none = await copy(id, owner.token, { name: 'None', records: true, asOf: time });
    expect([none.status, await goodsOf(none.body.project.id, owner.token)]).toEqual([201, []]);
    const all = await copy(id, owner.token, { name: 'All', records: true, asOf: later });
    const { body } = await platform.runtime(all.body.project.id)(
      'GET',
      '/db/goods?limit=1&total=1',
      {
        token: owner.token,
      },
    );
    const counted = await platform.runtime(all.body.project.id)('GET', '/db/goods/_count', {
      token: owner.token,
    });
    expect([body.items.length, counted.body.count]).toEqual([1, 601]);
  });

  it('is refused by name for times that the log does not know, without records, and to strangers', async () => {
    const { id, owner } = await newShop();
    const at = (asOf: string) => copy(id, owner.token, { name: 'No', records: true, asOf });
    expect((await at('2020-01-01T00:00:00Z')).body).toMatchObject({
      code: 'conflict',
      error: expect.stringContaining('are kept from'),
    });
    expect((await at('2999-01-01T00:00:00Z')).body).toMatchObject({
      code: 'invalid_body',
      error: expect.stringContaining('"asOf" lies in the future'),
    });
    expect((await at('yesterday')).status).toBe(400);
    const bare = await copy(id, owner.token, { name: 'No', asOf: new Date().toISOString() });
    expect(bare.body.code).toBe('invalid_body');
    const stranger = await platform.signUp('platform');
    const body = { name: 'Mine', records: true, asOf: new Date().toISOString() };
    expect((await copy(id, stranger.token, body)).status).toBe(404);
    const tar = await platform.control('GET', `/projects/${id}/export?asOf=2020-01-01T00:00:00Z`, {
      token: owner.token,
    });
    expect(tar.body).toMatchObject({ code: 'conflict' });
  });
});
