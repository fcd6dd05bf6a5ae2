import { type ConfigAsking, projectRoutes, routes } from '@backlot/contract';
import { asKey } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestBed, ownerA, type TestBed } from '../testing/test-bed.ts';

let bed: TestBed;
let id: string;
beforeAll(async () => {
  bed = await createTestBed();
});
afterAll(() => bed.close());
beforeEach(async () => {
  id = await bed.project();
  for (const part of Object.values(bed.parts)) {
    part.onApply = async () => undefined;
    part.onApplied = async () => {};
    part.hasRecords.clear();
  }
});

const path = (rest = '') => `/platform/projects/${id}/config${rest}`;
const owner = () => bed.owner(ownerA, id);
const read = async () => (await bed.call('GET', path(), { identity: await owner() })).body;
const put = async (body: unknown, query = '', headers: Record<string, string> = {}) =>
  bed.call('PUT', path(query), { identity: await owner(), body, headers });
const applications = async () =>
  (await bed.call('GET', path('/applications'), { identity: await owner() })).body.items as Record<
    string,
    unknown
  >[];

const file = {
  settings: { aiModel: 'small', callers: { ai: ['users'] } },
  limits: { read: { perCaller: 600 } },
  collections: { todos: { access: 'private', unique: ['title'] } },
  roles: { staff: { may: ['block-users', 'see-users'] } },
  prompts: { helper: { system: 'You help.' } },
  mailTemplates: { hello: { subject: 'Hello', html: '<p>Hello</p>', to: 'caller' } },
  products: { mug: { name: 'Mug', amount: 1200 } },
  onPaid: { order: { collection: 'orders', set: { status: 'paid' }, pays: 'items' } },
};

describe('setConfig', () => {
  it('applies a whole file, which reads back, and again is no change', async () => {
    expect(await read()).toEqual({
      settings: {},
      limits: {},
      collections: {},
      roles: {},
      prompts: {},
      mailTemplates: {},
      products: {},
      onPaid: {},
      webhooks: {},
    });
    const done = await put(file);
    expect(done).toMatchObject({ status: 200, body: { isDryRun: false } });
    const config = await read();
    expect(config).toEqual({
      ...file,
      webhooks: {},
      products: { mug: { name: 'Mug', amount: 1200, currency: 'usd', active: true } },
    });
    const again = await put(config);
    expect(again).toMatchObject({ status: 200, body: { changes: [], etag: done.body.etag } });
    const answer = await bed.call('GET', path(), { identity: await owner() });
    expect(answer.headers.get('etag')).toBe(done.body.etag);
  });

  it('tells in a dry run what would change, and changes nothing', async () => {
    await put(file);
    const before = await read();
    const { status, body } = await put(
      {
        settings: { aiModel: 'large' },
        collections: {
          todos: { access: 'members', unique: ['title'], search: true },
          tags: { access: 'locked' },
        },
        prompts: {},
      },
      '?dryRun=1',
    );
    expect(status).toBe(200);
    expect(body.isDryRun).toBe(true);
    expect((body.changes as { text: string }[]).map(({ text }) => text)).toEqual([
      'Setting "aiModel" is "large" (was "small").',
      'Setting "callers" has its default again (was {"ai":["users"]}).',
      'Collection "tags" is made: {"access":"locked"}.',
      'Collection "todos": "access" is "members" (was "private"); "search" is true (was false).',
      'Prompt "helper" is deleted.',
    ]);
    expect(await read()).toEqual(before);
    expect(await applications()).toHaveLength(1);
  });

  it('leaves what has records, and says so', async () => {
    await put(file);
    bed.parts.recordsConfig.hasRecords.add('collections.todos');
    const { body } = await put({ collections: {} });
    expect(body.changes).toMatchObject([{ kind: 'collection', name: 'todos', action: 'left' }]);
    expect(await read()).toMatchObject({ collections: file.collections });
    const further = await put({ collections: {}, prompts: {} });
    expect(further.body.changes).toMatchObject([{ action: 'left' }, { action: 'delete' }]);
    expect(await read()).toMatchObject({ collections: file.collections, prompts: {} });
    expect(further.body.etag).toBe((await put({}, '?dryRun=1')).body.etag);
  });

  it.each([
    [{ colections: {} }, '"colections" (did you mean "collections"?)'],
    [{ settings: { aiModle: 'x' } }, '"settings.aiModle" (did you mean "aiModel"?)'],
    [
      { collections: { a: { access: 'private', serach: true } } },
      '"collections.a.serach" (did you mean "search"?)',
    ],
    [{ collections: { a: {} } }, 'collections.a.access'],
    [{ collections: { 'a b': { access: 'private' } } }, 'collections.a b'],
    [{ products: { mug: { name: 'Mug', amount: 1, stock: 3 } } }, '"products.mug.stock"'],
    [{ settings: { aiModel: null } }, 'settings.aiModel'],
    [{ prompts: { a: { system: 'x'.repeat(9000) } } }, 'prompts.a.system'],
  ])('refuses %j by name', async (body, name) => {
    const refused = await put(body);
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect(refused.body.error).toContain(name);
    expect(await applications()).toEqual([]);
  });

  it('changes nothing where a part refuses, in a dry run too', async () => {
    bed.parts.paymentsConfig.onApply = async () => ({
      code: 'product_limit',
      message: 'A project may have at most 5000 products.',
    });
    for (const query of ['', '?dryRun=1'])
      expect(await put(file, query)).toMatchObject({
        status: 403,
        body: { code: 'product_limit' },
      });
    expect(await read()).toMatchObject({ settings: {}, collections: {}, prompts: {} });
    expect(await applications()).toEqual([]);
    const tooHigh = await put({ limits: { read: { perCaller: 1_000_000 } } });
    expect(tooHigh).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(tooHigh.body.error).toContain('limits.read');
  });

  it('tells parts the origins that the file allows, and those from before to put back', async () => {
    await put({ settings: { allowedOrigins: ['https://old.example'] } });
    const told: [boolean, readonly string[]][] = [];
    bed.parts.emailConfig.onApply = async ({ isTrial, project }) => {
      told.push([isTrial, project.allowedOrigins]);
      return undefined;
    };
    bed.parts.paymentsConfig.onApply = async ({ isTrial }) =>
      isTrial ? undefined : { code: 'product_limit', message: 'Full meanwhile.' };
    const { mailTemplates, products } = file;
    await put({ settings: { allowedOrigins: ['https://new.example'] }, mailTemplates, products });
    await put({ mailTemplates }, '?dryRun=1');
    expect(told).toEqual([
      [true, ['https://new.example']],
      [false, ['https://new.example']],
      [false, ['https://old.example']],
      [true, ['https://old.example']],
    ]);
  });

  it('puts everything back where a part refuses what it took on trial', async () => {
    await put({ ...file, products: {} });
    const before = await read();
    bed.parts.paymentsConfig.onApply = async ({ isTrial }) =>
      isTrial ? undefined : { code: 'product_limit', message: 'Full meanwhile.' };
    const refused = await put({
      settings: { aiModel: 'large' },
      collections: { tags: { access: 'locked' } },
      prompts: { other: { system: 'Hello.' } },
      products: file.products,
    });
    expect(refused).toMatchObject({ status: 403, body: { error: 'Full meanwhile.' } });
    expect(await read()).toEqual(before);
    expect(await applications()).toMatchObject([
      { state: 'undone', reason: 'Full meanwhile.' },
      { state: 'done', by: { caller: 'owner', id: ownerA } },
    ]);
  });

  it('goes on by itself where a part was away, and holds off others until then', async () => {
    bed.parts.aiConfig.onApply = async ({ isTrial }) => {
      if (!isTrial) throw new Error('ai is away');
      return undefined;
    };
    expect(await put(file)).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect(await put({ prompts: {} })).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect(await bed.call('GET', path(), { identity: await owner() })).toMatchObject({
      status: 409,
    });
    await bed.service.resumeConfigs();
    expect(await applications()).toMatchObject([{ state: 'applying', endedAt: null }]);
    bed.parts.aiConfig.onApply = async () => undefined;
    bed.pass(60_001);
    await bed.service.resumeConfigs();
    expect(await applications()).toMatchObject([{ state: 'done' }]);
    expect(await read()).toMatchObject({ prompts: file.prompts, onPaid: file.onPaid });
  });

  /** A process that does no more once it is in this part, until it is let go on. */
  const stopIn = (name: keyof TestBed['parts'], isIt = (_asking: ConfigAsking) => true) => {
    const reached = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    bed.parts[name].onApplied = async (asking) => {
      if (!isIt(asking)) return;
      bed.parts[name].onApplied = async () => {};
      reached.resolve();
      await goOn.promise;
    };
    return { reached: reached.promise, goOn: () => goOn.resolve() };
  };

  it.each(['recordsConfig', 'aiConfig', 'emailConfig', 'paymentsConfig'] as const)(
    'is done by another process where the first stands still in %s, and the first does no more',
    async (name) => {
      const { reached, goOn } = stopIn(name);
      const first = put(file);
      await reached;
      await bed.service.resumeConfigs();
      expect(await applications()).toMatchObject([{ state: 'applying' }]);
      bed.pass(60_001);
      await bed.service.resumeConfigs();
      expect(await applications()).toMatchObject([{ state: 'done' }]);
      goOn();
      expect(await first).toMatchObject({ status: 503, body: { code: 'unavailable' } });
      expect(await read()).toMatchObject({ ...file, products: { mug: { amount: 1200 } } });
    },
  );

  it('is undone by another process where the first stands still while it puts things back', async () => {
    await put({ ...file, products: {} });
    const before = await read();
    bed.parts.paymentsConfig.onApply = async ({ isTrial }) =>
      isTrial ? undefined : { code: 'product_limit', message: 'Full meanwhile.' };
    const { reached, goOn } = stopIn('recordsConfig', ({ changes }) =>
      changes.some(({ to }) => to === null),
    );
    const first = put({
      settings: {},
      collections: { ...file.collections, tags: { access: 'locked' } },
      products: file.products,
    });
    await reached;
    bed.pass(60_001);
    await bed.service.resumeConfigs();
    expect(await applications()).toMatchObject([{ state: 'undone' }, { state: 'done' }]);
    goOn();
    expect(await first).toMatchObject({ status: 503 });
    expect(await read()).toEqual(before);
  });

  it('takes one file at a time for a project, and all the others after it', async () => {
    const identity = await owner();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        bed.call('PUT', path(), {
          identity: { ...identity, ip: `192.0.2.${n}` },
          body: { prompts: { [`p${n}`]: { system: 'Hi.' } } },
        }),
      ),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses[0]).toBe(200);
    expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([]);
    const { prompts } = await read();
    expect(Object.keys(prompts as object)).toHaveLength(1);
    expect(await applications()).toHaveLength(statuses.filter((status) => status === 200).length);
  });

  it('with If-Match applies nothing over what somebody else has changed', async () => {
    const { body } = await put({ settings: { aiModel: 'small' } });
    const ifMatch = { 'if-match': String(body.etag) };
    expect(await put({ prompts: file.prompts }, '', ifMatch)).toMatchObject({ status: 200 });
    expect(await put({ prompts: {} }, '', ifMatch)).toMatchObject({
      status: 412,
      body: { code: 'precondition_failed' },
    });
    expect(await put({ prompts: {} }, '?dryRun=1', ifMatch)).toMatchObject({ status: 412 });
    expect(await put({ prompts: {} }, '', { 'if-match': '*' })).toMatchObject({ status: 200 });
  });

  it('lets a key set what it may set by single calls', async () => {
    await put(file);
    const { project } = await owner();
    const as = (...keyScopes: string[]) => asKey({ project, keyScopes });
    const send = (identity: ReturnType<typeof as>, body: unknown) =>
      bed.call('PUT', path(), { identity, body });
    const seen = await bed.call('GET', path(), { identity: as('admin') });
    const { onPaid: _onPaid, webhooks: _webhooks, ...visible } = await read();
    expect(seen).toMatchObject({ status: 200 });
    expect(seen.body).toEqual(visible);
    expect(await send(as('admin'), visible)).toMatchObject({ status: 200, body: { changes: [] } });
    expect(await send(as('admin'), { prompts: {}, collections: {} })).toMatchObject({
      status: 200,
    });
    for (const [body, place] of [
      [{ settings: { aiModel: 'small' } }, 'settings.callers'],
      [{ settings: { ...file.settings, payments: 'any' } }, 'settings.payments'],
      [{ onPaid: {} }, 'onPaid.order'],
      [{ roles: {} }, 'roles.staff'],
      [{ products: {} }, 'products.mug'],
    ] as const) {
      const refused = await send(as('admin'), body);
      expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } });
      expect(refused.body.error).toContain(place);
    }
    expect(await send(as('write', 'admin'), { products: {} })).toMatchObject({ status: 200 });
  });

  it('keeps the projects of one owner apart', async () => {
    await put(file);
    const first = id;
    id = await bed.project();
    expect(await read()).toMatchObject({ settings: {}, collections: {}, onPaid: {} });
    expect(await applications()).toEqual([]);
    await put({ settings: {}, collections: {}, onPaid: {} });
    id = first;
    expect(await read()).toMatchObject({ onPaid: file.onPaid });
  });

  it('remembers the last 20 of a project', async () => {
    for (let n = 0; n < 22; n += 1) await put({ prompts: { p: { system: `Number ${n}` } } });
    const items = await applications();
    expect(items).toHaveLength(20);
    expect(items[0]).toMatchObject({
      changes: ['Prompt "p": "system" is "Number 21" (was "Number 20").'],
    });
  });
});

/** Calls by which owners set something that is no part of the file, and why. */
const notInFile: Record<string, string> = {
  updateUser: 'users are data',
  setStripeSecret: 'a secret',
  setOpenaiSecret: 'a secret',
  setMemberRole: 'who works on a project is no setting of it',
  setAuthProvider: 'has a secret',
  renameCollection: 'a file knows names, not what they were',
};

it('has everything that an owner sets by a call with PUT or PATCH', () => {
  const known = new Set(
    Object.values(projectRoutes.configSections).map(({ setBy }): string => setBy),
  );
  const missing = routes
    .filter(
      ({ plane, method, path, callers, operationId }) =>
        plane === 'platform' &&
        (method === 'PUT' || method === 'PATCH') &&
        path.startsWith('/projects/:projectId') &&
        callers.includes('owner') &&
        operationId !== projectRoutes.setConfig.operationId,
    )
    .map(({ operationId }) => operationId)
    .filter((operationId) => !known.has(operationId) && !(operationId in notInFile));
  expect(missing).toEqual([]);
});
