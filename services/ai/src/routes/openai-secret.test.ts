import { aiRoutes } from '@backlot/contract';
import { createSealer } from '@backlot/sealing';
import { sealedColumn } from '@backlot/service';
import { asOperator, asOwner, refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createOpenaiProvider } from '../model-provider/openai.ts';
import { createProjectKeys, sealContext } from '../project-keys.ts';
import { type ModelServer, startModelServer } from '../testing/model-server.ts';
import { createTestBed, reserved, type TestBed } from '../testing/test-bed.ts';

const path = `/projects/${testProject.id}/secrets/openai`;
const hello = { messages: [{ role: 'user', content: 'Hello' }] };
const [olderKey, newerKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const apiKey = 'sk-project-0123456789abcd';

describe('a project’s own key', () => {
  let bed: TestBed;
  let server: ModelServer;
  const providerAt = (baseUrl: string) =>
    createOpenaiProvider({
      endpoints: [{ baseUrl, apiKey: 'sk-operator', model: 'model-0' }],
      firstPieceTimeoutMs: 1000,
    });
  beforeAll(async () => {
    bed = await createTestBed({ masterKeys: [olderKey] });
    server = await startModelServer();
    bed.useProvider(providerAt(server.baseUrl));
  });
  afterEach(async () => {
    server.answers();
    await bed.takeUsage();
  });
  afterAll(() => Promise.all([bed.close(), server.stop()]));

  const call = (method: string, body?: unknown, identity = asOwner()) =>
    bed.http.call(method, `/platform${path}`, { identity, body });

  for (const route of [
    aiRoutes.setOpenaiSecret,
    aiRoutes.getOpenaiSecret,
    aiRoutes.deleteOpenaiSecret,
  ]) {
    refusesStrangers(
      route,
      () => bed.http,
      () => ({ path, body: { apiKey } }),
    );
  }

  it('is used in place of the operator’s from then on, until it is deleted', async () => {
    const used: unknown[] = [];
    const choices = [{ message: { content: 'Hi' }, finish_reason: 'stop' }];
    const recording = server.mounted('recording', (res, req) => {
      used.push(req.headers.authorization);
      res.setHeader('content-type', 'application/json');
      res.end(JSON.stringify({ data: [], choices }));
    });
    bed.useProvider(providerAt(recording));
    const none = { name: 'openai', hint: null, model: null, updatedAt: null };
    expect(await call('GET')).toMatchObject({ status: 200, body: none });
    const set = await call('PUT', { apiKey, model: 'gpt-own' });
    expect(set.body).toEqual({
      name: 'openai',
      hint: '…abcd',
      model: 'gpt-own',
      updatedAt: expect.any(String),
    });
    expect((await call('GET', undefined, asOperator())).body).toEqual(set.body);
    await bed.ask(hello);
    expect(await call('DELETE')).toMatchObject({ status: 200, body: { ok: true } });
    expect(await call('DELETE')).toMatchObject({ status: 404 });
    await bed.ask(hello);
    expect(used).toEqual([`Bearer ${apiKey}`, `Bearer ${apiKey}`, 'Bearer sk-operator']);
    bed.useProvider(providerAt(server.baseUrl));
  });

  it('comes with the model of the project’s setting unless it has one of its own', async () => {
    const project = { ...testProject, settings: { aiModel: 'gpt-chosen' } };
    const models = async () => {
      server.answers();
      await bed.ask(hello, { identity: { ...reserved(10_000), project } });
      return server.chats().map(({ model }) => model);
    };
    expect(await models()).toEqual(['gpt-chosen']);
    await call('PUT', { apiKey });
    expect(await models()).toEqual(['gpt-chosen']);
    await call('PUT', { apiKey, model: 'gpt-own' });
    expect(await models()).toEqual(['gpt-own']);
    await call('DELETE');
  });

  it('is in no answer, no row and no failure', async () => {
    const answers = [await call('PUT', { apiKey }), await call('GET')];
    server.answers({ error: { message: `Incorrect API key: ${apiKey}` }, status: 401 });
    answers.push(await bed.ask(hello));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 502]);
    for (const { body } of answers) expect(JSON.stringify(body)).not.toContain('sk-');
    const rows = await bed.database.query<{ sealed: Buffer }>('SELECT * FROM secrets');
    expect(rows).toHaveLength(1);
    expect(rows[0]?.sealed.includes(apiKey)).toBe(false);
    await call('DELETE');
  });

  it('is refused where the provider refuses it, and a provider that is down is told apart', async () => {
    const refusing = server.mounted('refusing', (res) =>
      res.writeHead(401).end(`{"error":{"message":"Incorrect API key: ${apiKey}"}}`),
    );
    bed.useProvider(providerAt(refusing));
    expect(await call('PUT', { apiKey })).toMatchObject({
      status: 400,
      body: { code: 'invalid_secret', error: expect.stringContaining('"apiKey"') },
    });
    bed.useProvider(providerAt('http://127.0.0.1:1/v1'));
    const down = await call('PUT', { apiKey });
    expect(down).toMatchObject({ status: 502, body: { code: 'upstream_failed' } });
    expect(JSON.stringify(down.body)).not.toContain('127.0.0.1');
    bed.useProvider(providerAt(server.baseUrl));
    expect((await call('GET')).body).toMatchObject({ hint: null });
  });

  it.each([
    ['apiKey', {}],
    ['apiKey', { apiKey: 'short' }],
    ['apiKey', { apiKey: 'sk-with\nanother-header: x' }],
    ['apiKey', { apiKey: `sk-${'x'.repeat(510)}` }],
    ['model', { apiKey, model: '' }],
  ])('answers 400 that names %s, without the value', async (field, body) => {
    const answer = await call('PUT', body);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toContain(`"${field}"`);
    expect(JSON.stringify(answer.body)).not.toContain('sk-');
  });

  it('that no master key opens is 503 by name, and the service says so until it is set again', async () => {
    await call('PUT', { apiKey });
    await bed.database.query(`UPDATE secrets SET sealed = '\\x00'::bytea || sealed`);
    server.answers();
    expect(await bed.ask(hello)).toMatchObject({
      status: 503,
      body: { code: 'secrets_unreadable', hint: expect.stringContaining('set the key again') },
    });
    expect(server.chats()).toEqual([]);
    expect(await bed.http.call('GET', '/readyz')).toMatchObject({
      status: 200,
      body: { ok: true, missing: ['secrets'] },
    });
    await call('PUT', { apiKey });
    expect((await bed.ask(hello)).status).toBe(200);
    await call('DELETE');
  });

  it('is sealed again under the newest master key, and opens under the old one until then', async () => {
    await call('PUT', { apiKey });
    const { database } = bed;
    const storeOf = (...masterKeys: Buffer[]) =>
      sealedColumn<{ project_number: number }>({
        database,
        sealer: createSealer(masterKeys),
        table: 'secrets',
        column: 'sealed',
        keys: ['project_number'],
        context: ({ project_number }) => sealContext(project_number),
      });
    const keysWith = (...masterKeys: Buffer[]) =>
      createProjectKeys({
        database,
        sealer: createSealer(masterKeys),
        provider: providerAt(server.baseUrl),
        models: [],
        now: Date.now,
      });
    expect(await keysWith(newerKey, olderKey).findChoice(asOwner())).toEqual({ apiKey });
    expect(await keysWith(olderKey).findChoice(asOwner())).toEqual({ apiKey });
    const store = storeOf(newerKey, olderKey);
    const [newer, older] = createSealer([newerKey, olderKey]).keyNames.map((n) =>
      n.toString('hex'),
    );
    expect(await store.count()).toMatchObject([
      { keyId: newer, state: 'current', sealed: 0 },
      { keyId: older, state: 'old', sealed: 1 },
    ]);
    expect(await storeOf(newerKey).count()).toMatchObject([
      { keyId: newer, state: 'current', sealed: 0 },
      { keyId: older, state: 'lost', sealed: 1 },
    ]);
    const done = await Promise.all([store.reseal(10), store.reseal(10), store.reseal(10)]);
    expect(done.reduce((sum, count) => sum + count, 0)).toBe(1);
    expect(await store.count()).toMatchObject([
      { keyId: newer, sealed: 1 },
      { keyId: older, sealed: 0 },
    ]);
    expect(await keysWith(newerKey).findChoice(asOwner())).toEqual({ apiKey });
    await call('DELETE');
  });
});

describe('models that the operator offers', () => {
  let bed: TestBed;
  let server: ModelServer;
  beforeAll(async () => {
    bed = await createTestBed({ models: ['gpt-small', 'gpt-large'] });
    server = await startModelServer();
    const endpoint = { baseUrl: server.baseUrl, apiKey: 'sk-operator', model: 'model-0' };
    bed.useProvider(createOpenaiProvider({ endpoints: [endpoint], firstPieceTimeoutMs: 1000 }));
  });
  afterAll(() => Promise.all([bed.close(), server.stop()]));

  const set = (body: unknown) =>
    bed.http.call('PUT', `/platform${path}`, { identity: asOwner(), body });
  const ask = (settings: Record<string, unknown>) =>
    bed.ask(hello, { identity: { ...reserved(10_000), project: { ...testProject, settings } } });

  it('are the only ones that a project may choose', async () => {
    expect(await set({ apiKey, model: 'gpt-huge' })).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('"model"'), hint: 'There is: gpt-small, gpt-large.' },
    });
    server.answers();
    expect(await ask({ aiModel: 'gpt-huge' })).toMatchObject({
      status: 409,
      body: {
        code: 'conflict',
        error: expect.stringContaining('"aiModel"'),
        hint: 'Its owner has to choose another model.',
      },
    });
    expect(server.chats()).toEqual([]);
    expect(await bed.takeUsage()).toEqual([]);
    for (const settings of [{ aiModel: 'gpt-large' }, {}])
      expect((await ask(settings)).status).toBe(200);
    expect(server.chats().map(({ model }) => model)).toEqual(['gpt-large', 'model-0']);
  });

  it('may have been more when a project chose', async () => {
    expect((await set({ apiKey, model: 'gpt-small' })).status).toBe(200);
    await bed.database.query(`UPDATE secrets SET model = 'gpt-gone'`);
    expect(await ask({ aiModel: 'gpt-small' })).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('"model"') },
    });
  });
});

describe('the demo', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  it('takes no key', async () => {
    const answer = await bed.http.call('PUT', `/platform${path}`, {
      identity: asOwner(),
      body: { apiKey },
    });
    expect(answer).toMatchObject({ status: 409, body: { code: 'conflict' } });
  });
});
