import { type RouteDefinition, routes } from '@backlot/contract';
import { expect, it } from '@jest/globals';
import { BacklotError, type Client, createClient } from './index.ts';
import { base, clientWith, json, type Sent } from './testing/recorded-client.ts';

const findRoute = ({ method, path }: Sent): RouteDefinition | undefined =>
  routes.find(
    (route) =>
      route.plane === 'runtime' &&
      route.method === method &&
      new RegExp(`^${route.path.replaceAll(/:\w+/g, '[^/]+')}$`).test(path) &&
      // `_count` and `_batch` could be taken for ids.
      route.path.includes('_') === path.includes('/_'),
  );

const id = '018f0000-0000-7000-8000-0000000000aa';
const account = { email: 'ada@example.org', password: 'a good long password' };
const messages = [{ role: 'user' as const, content: 'Hello' }];

it.each<[string, (client: Client) => Promise<unknown>]>([
  ['signUp', ({ auth }) => auth.signUp({ ...account, name: 'Ada' })],
  ['signIn', ({ auth }) => auth.signIn(account)],
  ['signOut', ({ auth }) => auth.signOut()],
  ['updateMe', ({ auth }) => auth.updateMe({ name: null })],
  ['deleteMe', ({ auth }) => auth.deleteMe()],
  [
    'changePassword',
    ({ auth }) => auth.changePassword({ currentPassword: 'x', newPassword: account.password }),
  ],
  ['changeEmail', ({ auth }) => auth.changeEmail(account)],
  ['confirmEmailChange', ({ auth }) => auth.confirmEmailChange('token')],
  ['forgotPassword', ({ auth }) => auth.forgotPassword(account.email)],
  ['resetPassword', ({ auth }) => auth.resetPassword('token', account.password)],
  ['verifyEmail', ({ auth }) => auth.verifyEmail('token')],
  ['listPasskeys', ({ auth }) => auth.passkeys()],
  ['renamePasskey', ({ auth }) => auth.renamePasskey(id, 'Phone')],
  ['deletePasskey', ({ auth }) => auth.deletePasskey(id)],
  ['createTotp', ({ auth }) => auth.addTotp()],
  ['confirmTotp', ({ auth }) => auth.confirmTotp('123456')],
  ['listFactors', ({ auth }) => auth.factors()],
  ['deleteFactor', ({ auth }) => auth.deleteFactor(id, '123456')],
  ['renewRecoveryCodes', ({ auth }) => auth.renewRecoveryCodes('123456')],
  ['showSignInLink', ({ auth }) => auth.showLink('token')],
  ['listAuthProviders', ({ auth }) => auth.providers()],
  ['listIdentities', ({ auth }) => auth.identities()],
  ['unlinkIdentity', ({ auth }) => auth.unlinkIdentity(id)],
  ['reauthenticate', ({ auth }) => auth.reauthenticate({ code: '123456' })],
  ['createGroup', ({ groups }) => groups.create('Red')],
  ['listGroups', ({ groups }) => groups.list({ limit: 5 })],
  ['getGroup', ({ groups }) => groups.get(id)],
  ['updateGroup', ({ groups }) => groups.rename(id, 'Blue')],
  ['deleteGroup', ({ groups }) => groups.delete(id)],
  ['listGroupMembers', ({ groups }) => groups.members(id)],
  ['updateGroupMember', ({ groups }) => groups.setRole(id, id, 'admin')],
  ['removeGroupMember', ({ groups }) => groups.remove(id, id)],
  ['inviteToGroup', ({ groups }) => groups.invite(id, { email: 'a@example.org', role: 'member' })],
  ['listGroupInvites', ({ groups }) => groups.invites(id)],
  ['revokeGroupInvite', ({ groups }) => groups.revokeInvite(id, id)],
  ['joinGroup', ({ groups }) => groups.join('token')],
  ['findUsers', ({ users }) => users.find([id, id])],
  ['findUsers', ({ users }) => users.list({ role: 'staff', limit: 5 })],
  ['moderateUser', ({ users }) => users.setRole(id, 'staff')],
  ['moderateUser', ({ users }) => users.block(id, { reason: 'Spam' })],
  ['moderateUser', ({ users }) => users.unblock(id)],
  [
    'listRecords',
    ({ db }) =>
      db('todos').list({ where: { a: { $gt: 1 } }, sort: '-a', limit: 5, offset: 1, mine: true }),
  ],
  ['listRecords', ({ db }) => db('todos').list({ cursor: 'x', fields: 'a', total: true })],
  ['countRecords', ({ db }) => db('todos').count({ where: { a: 1 } })],
  ['aggregateRecords', ({ db }) => db('todos').aggregate({ group: 'a', sum: 'b', mine: true })],
  [
    'aggregateRecords',
    ({ db }) =>
      db('todos').aggregate({
        group: 'createdAt:day,a',
        timeZone: 'Europe/Berlin',
        distinct: 'b',
        having: { 'distinct.b': { $gt: 1 } },
        sort: '-count',
      }),
  ],
  ['getRecord', ({ db }) => db('todos').get(id, { fields: 'a,b', include: 'authorId' })],
  ['getRecord', ({ db }) => db('todos').getVersion(id)],
  ['createRecord', ({ db }) => db('todos').create({ a: 1 })],
  ['createRecord', ({ db }) => db('todos').create({ a: 1 }, { groupId: id })],
  ['countRecords', ({ db }) => db('todos').count({ group: id })],
  ['shareRecord', ({ db }) => db('todos').share(id, { userId: id, may: 'read' })],
  ['shareRecord', ({ db }) => db('todos').share(id, { email: 'a@b.example', may: 'change' })],
  ['unshareRecord', ({ db }) => db('todos').unshare(id, 'a@b.example')],
  ['listShares', ({ db }) => db('todos').shares(id)],
  ['reportRecord', ({ db }) => db('todos').report(id, 'Spam')],
  ['listReports', ({ db }) => db('todos').reports({ limit: 5 })],
  ['dismissReports', ({ db }) => db('todos').dismissReports(id)],
  ['unshareRecord', ({ db }) => db('todos').unshare(id, id)],
  [
    'updateRecord',
    ({ db }) => db('todos').update(id, { data: { a: 1 } }, { ifMatch: '"1"', merge: 'deep' }),
  ],
  ['replaceRecord', ({ db }) => db('todos').replace(id, { a: 1 }, { upsert: true })],
  ['deleteRecord', ({ db }) => db('todos').delete(id)],
  ['deleteRecords', ({ db }) => db('todos').deleteWhere({ a: 1 }, { dryRun: true })],
  [
    'writeBatch',
    ({ db }) =>
      db('todos').batch({
        create: [{ data: {} }],
        update: [{ id, unset: ['a'] }],
        delete: [id],
      }),
  ],
  [
    'generateText',
    ({ ai }) =>
      ai.generate({ messages: [{ role: 'user', content: [{ type: 'image', fileId: id }] }] }),
  ],
  ['generateText', ({ ai }) => ai.generate({ messages, system: 'Be brief.', maxTokens: 5 })],
  [
    'generateText',
    ({ ai }) =>
      ai
        .stream({ messages, prompt: 'pinned' })
        .next()
        .catch(() => {}),
  ],
  [
    'uploadFile',
    ({ storage }) => storage.upload(new Blob(['x']), { visibility: 'private', groupId: id }),
  ],
  ['listFiles', ({ storage }) => storage.list({ group: id, limit: 5 })],
  ['signFile', ({ storage }) => storage.sign(id, 60)],
  ['attachFile', ({ storage }) => storage.attach(id, { collection: 'chat', recordId: id })],
  ['attachFile', ({ storage }) => storage.attach(id, { recordId: null })],
  ['getFile', ({ storage }) => storage.open(id, { width: 320 })],
  ['deleteFile', ({ storage }) => storage.delete(id)],
  [
    'sendEmail',
    ({ email }) =>
      email.send({
        to: 'a@b.example',
        cc: ['c@d.example'],
        replyTo: 'e@f.example',
        attachments: [id],
        subject: 'x',
        html: 'x',
      }),
  ],
  ['sendEmail', ({ email }) => email.send({ to: ['a@example.org'], subject: 'Hi', html: 'x' })],
  ['sendEmail', ({ email }) => email.send({ template: 'receipt', data: { order: 'a-1' } })],
  [
    'createCheckout',
    ({ payments }) =>
      payments.checkout({
        items: [{ name: 'Mug', amount: 1999, quantity: 1 }],
        returnUrl: 'https://shop.example.org/',
        metadata: { order: 1 },
      }),
  ],
  ['verifyPayment', ({ payments }) => payments.verify('session')],
  ['listMyPayments', ({ payments }) => payments.list({ limit: 5 })],
  ['listProducts', ({ products }) => products.list({ limit: 5 })],
  ['getProduct', ({ products }) => products.get('mug')],
  ['setProduct', ({ products }) => products.set('mug', { name: 'Mug', amount: 1999, stock: 3 })],
  ['deleteProduct', ({ products }) => products.delete('mug')],
])('%s is called as the contract has it', async (operationId, use) => {
  const { client, sent } = clientWith([json({ token: 't', user: {}, items: [] })]);
  await use(client);
  const call = sent.at(-1) as Sent;
  const route = findRoute(call);
  expect(route?.operationId).toBe(operationId);
  expect(route?.query?.strict().parse(call.query) ?? call.query).toBeDefined();
  const body = call.body instanceof FormData ? Object.fromEntries(call.body) : call.body;
  if (route?.body) route.body.parse(body);
  else expect(body).toBeNull();
  const isStream = (call.body as { stream?: boolean } | null)?.stream;
  const carriesKey = call.method === 'POST' && operationId !== 'uploadFile' && !isStream;
  expect('Idempotency-Key' in call.headers).toBe(carriesKey);
});

it('looks as another caller with every call, so that nothing is written as the owner', async () => {
  const { client, sent } = clientWith([json({ items: [] })], { viewAs: 'role:staff', token: 't' });
  await client.db('todos').list();
  await client.db('todos').create({ a: 1 });
  await client.storage.upload(new Blob(['x']), { onProgress: () => {} });
  expect(sent.map(({ headers }) => headers['Backlot-View-As'])).toEqual(
    Array(3).fill('role:staff'),
  );
  const usual = clientWith([json({ items: [] })], { token: 't' });
  await usual.client.db('todos').list();
  expect(usual.sent[0]?.headers).not.toHaveProperty('Backlot-View-As');
});

it('calls every operation of the runtime plane that an app has', async () => {
  const others = [
    'getMe',
    'getHistory',
    'restoreRecord',
    'listChanges',
    'exportRecords',
    'importRecords',
    'refreshToken',
    'getJwks',
    'showInvitation',
    // Of the page /account/sign-in.
    'checkReturn',
    'handOverSession',
    'takeSession',
    'createPasskeyOptions',
    'addPasskey',
    'createPasskeySignIn',
    'signInWithPasskey',
    'listMySessions',
    'endMySession',
    'endOtherSessions',
    'openUpload',
    'completeUpload',
    'createResumable',
    'getResumable',
    'appendResumable',
    'deleteResumable',
    'verifyFactor',
    'checkReturn',
    'handOverSession',
    'takeSession',
    'linkIdentity',
    'listMySessions',
    'endOtherSessions',
    'endMySession',
  ];
  const forPeopleAndProviders = /mailbox|webhook|events|oauth|checkout\/:|return\/:/;
  const names = routes
    .filter(({ plane, path }) => plane === 'runtime' && !forPeopleAndProviders.test(path))
    .map(({ operationId }) => operationId)
    .filter((name) => !others.includes(name));
  expect(new Set(names)).toEqual(
    new Set([
      'signUp',
      'signIn',
      'createGuest',
      'requestCode',
      'verifyCode',
      'signOut',
      'updateMe',
      'deleteMe',
      'changePassword',
      'changeEmail',
      'confirmEmailChange',
      'forgotPassword',
      'resetPassword',
      'verifyEmail',
      'listPasskeys',
      'renamePasskey',
      'deletePasskey',
      'createTotp',
      'confirmTotp',
      'listFactors',
      'deleteFactor',
      'renewRecoveryCodes',
      'showSignInLink',
      'listAuthProviders',
      'listIdentities',
      'unlinkIdentity',
      'reauthenticate',
      'createGroup',
      'listGroups',
      'getGroup',
      'updateGroup',
      'deleteGroup',
      'listGroupMembers',
      'updateGroupMember',
      'removeGroupMember',
      'inviteToGroup',
      'listGroupInvites',
      'revokeGroupInvite',
      'joinGroup',
      'findUsers',
      'moderateUser',
      'listRecords',
      'aggregateRecords',
      'countRecords',
      'getRecord',
      'createRecord',
      'updateRecord',
      'replaceRecord',
      'deleteRecord',
      'deleteRecords',
      'writeBatch',
      'shareRecord',
      'listShares',
      'unshareRecord',
      'reportRecord',
      'listReports',
      'dismissReports',
      'generateText',
      'uploadFile',
      'listFiles',
      'signFile',
      'attachFile',
      'getFile',
      'deleteFile',
      'sendEmail',
      'createCheckout',
      'verifyPayment',
      'listMyPayments',
      'listProducts',
      'getProduct',
      'setProduct',
      'deleteProduct',
    ]),
  );
});

it('turns a failure into one error with what the server says', async () => {
  const failure = { error: 'No.', code: 'invalid_where', hint: 'Say $in.', requestId: 'r1' };
  const { client } = clientWith([json(failure, 400)]);
  const error = await client
    .db('todos')
    .list()
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(BacklotError);
  const { error: message, ...rest } = failure;
  expect(error).toMatchObject({ message, status: 400, ...rest });
});

it('sends options that it does not know, for the server to name them', async () => {
  const { client, sent } = clientWith([json({})]);
  const guess = { filter: 'x', where: { n: 1 }, mine: true, sort: { n: 1 }, fields: ['n', 'm'] };
  await client.db('todos').list(guess as object);
  await client.db('todos').count(guess as object);
  const query = { filter: 'x', where: '{"n":1}', mine: '1', sort: '{"n":1}', fields: 'n,m' };
  expect(sent.map((call) => call.query)).toEqual([query, query]);
});

it('shows what the server says of ignored input, once', async () => {
  const warned: string[] = [];
  const { warn } = console;
  console.warn = (text: string) => void warned.push(text);
  const hinted = json({ items: [] }, 200, { 'backlot-hint': 'Operators begin with "$".' });
  const { client } = clientWith([hinted, hinted, json({ items: [] })]);
  for (let n = 0; n < 3; n++) await client.db('todos').list();
  console.warn = warn;
  expect(warned).toEqual(['Backlot: Operators begin with "$".']);
});

it('says what its base address has to be', () => {
  for (const wrong of [undefined, 'demo', { baseUrl: base }])
    expect(() => createClient(wrong as string)).toThrow('"<host>/api/runtime/<project id>"');
});

it('tells the end of an upload where nothing tells how it goes', async () => {
  const { client } = clientWith([json({ id })]);
  const told: number[][] = [];
  const onProgress = (...bytes: number[]) => void told.push(bytes);
  expect(await client.storage.upload(new Blob(['hello']), { onProgress })).toEqual({ id });
  expect(told).toEqual([[5, 5]]);
});

it('repeats what is safe, with the same key, and nothing else', async () => {
  const busy = json({ error: 'Busy.', code: 'overloaded' }, 503, { 'Retry-After': '0' });
  const { client, sent } = clientWith([busy, busy, json({ id })]);
  expect(await client.db('todos').create({})).toEqual({ id });
  expect(sent).toHaveLength(3);
  expect(new Set(sent.map(({ headers }) => headers['Idempotency-Key'])).size).toBe(1);

  const patch = clientWith([busy, json({ id })]);
  await expect(patch.client.db('todos').update(id, { inc: { n: 1 } })).rejects.toMatchObject({
    code: 'overloaded',
  });
  const refused = clientWith([json({ code: 'not_found' }, 404), json({ id })]);
  await expect(refused.client.db('todos').get(id)).rejects.toMatchObject({ status: 404 });
  const later = clientWith([json({}, 429, { 'Retry-After': '600' }), json({ id })]);
  await expect(later.client.db('todos').get(id)).rejects.toMatchObject({ retryAfterSeconds: 600 });
  const away = clientWith([], { retries: 1 });
  await expect(away.client.db('todos').get(id)).rejects.toMatchObject({ code: 'network' });
  expect([patch, refused, later, away].map(({ sent: calls }) => calls.length)).toEqual([
    1, 1, 1, 2,
  ]);
});

it('sends the data of a new record last, where the server need not keep it', async () => {
  const { client, sent } = clientWith([json({ id })]);
  await client.db('todos').create({ title: 'x' }, { groupId: id });
  expect(Object.keys(sent[0]?.body ?? {})).toEqual(['groupId', 'data']);
});

it('reads a stream that is cut anywhere, and says when it broke off', async () => {
  const events =
    'event: delta\ndata: {"text":"Grüß "}\n\nevent: delta\ndata: {"text":"Gott"}\n\nevent: done\ndata: {"text":"Grüß Gott"}\n\n';
  const streamed = (text: string) => () => {
    const bytes = new TextEncoder().encode(text);
    return new Response(
      new ReadableStream({
        start(controller) {
          for (let at = 0; at < bytes.length; at += 3) controller.enqueue(bytes.slice(at, at + 3));
          controller.close();
        },
      }),
    );
  };
  const { client } = clientWith([streamed(events)]);
  const stream = client.ai.stream({ messages });
  const parts: string[] = [];
  let step = await stream.next();
  for (; !step.done; step = await stream.next()) parts.push(step.value);
  expect([parts, step.value]).toEqual([['Grüß ', 'Gott'], { text: 'Grüß Gott' }]);

  const drain = async (from: AsyncGenerator<string>) => {
    for await (const part of from) parts.push(part);
  };
  const broken = clientWith([streamed(events.slice(0, 60))]).client.ai.stream({ messages });
  await expect(drain(broken)).rejects.toMatchObject({ code: 'network' });
  const failed = clientWith([streamed('event: error\ndata: {"code":"upstream_failed"}\n\n')]);
  await expect(drain(failed.client.ai.stream({ messages }))).rejects.toMatchObject({
    code: 'upstream_failed',
  });
});

it('refuses by name what JSON would drop or change, before anything is sent', async () => {
  const { client, sent } = clientWith([json({}, 201)]);
  const todos = client.db('todos');
  const file = new File(['x'], 'x.txt');
  const circle: Record<string, unknown> = {};
  circle.self = { circle };
  const cases: [Record<string, unknown>, string][] = [
    [{ file }, '"data.file" (File) is no JSON: upload it by client.storage.upload(file)'],
    [{ a: [{ photo: new Blob() }] }, '"data.a.0.photo" (Blob) is no JSON: upload it by'],
    [{ tags: new Set(['a']) }, '"data.tags" (Set) is no JSON: send a list: [...set]'],
    [{ m: new Map() }, '"data.m" (Map) is no JSON: send Object.fromEntries(map)'],
    [{ later: Promise.resolve() }, '"data.later" (Promise) is no JSON: await it first'],
    [{ n: 1n }, '"data.n" (BigInt) is no JSON: send String(value)'],
    [{ n: Number.NaN }, '"data.n" (Number) is no JSON'],
    [{ n: Number.POSITIVE_INFINITY }, '"data.n" (Number) is no JSON'],
    [{ at: new Date('never') }, '"data.at" (Date) is no JSON: the date is invalid'],
    [{ f: () => {} }, '"data.f" (Function) is no JSON'],
    [{ f: async () => {} }, '"data.f" (AsyncFunction) is no JSON'],
    [{ s: Symbol('s') }, '"data.s" (Symbol) is no JSON'],
    [{ bytes: new Uint8Array(2) }, '"data.bytes" (Uint8Array) is no JSON'],
    [{ like: /x/ }, '"data.like" (RegExp) is no JSON'],
    [{ failed: new Error('x') }, '"data.failed" (Error) is no JSON'],
    [{ event: new Event('click') }, '"data.event" (Event) is no JSON'],
    [{ form: new FormData() }, '"data.form" (FormData) is no JSON'],
    [circle, '"data.self.circle" holds itself'],
  ];
  for (const [data, message] of cases)
    for (const way of [todos.create(data), todos.update(id, { data }), todos.replace(id, data)])
      await expect(way).rejects.toMatchObject({
        name: 'BacklotError',
        code: 'not_json',
        message: expect.stringContaining(message),
      });
  const updateProfile = client.auth.updateMe({ profile: { photo: file } });
  await expect(updateProfile).rejects.toThrow('"profile.photo" (File) is no JSON');
  const where = { tags: new Set(['a']) } as never;
  await expect(todos.list({ where })).rejects.toThrow('"where.tags" (Set) is no JSON');
  expect(sent).toEqual([]);
});

it('sends what JSON writes by itself', async () => {
  const { client, sent } = clientWith([json({}, 201)]);
  const at = new Date(0);
  const shared = { a: 1 };
  class Point {
    x = 1;
  }
  const url = new URL('https://example.org/');
  const data = { at, url, left: undefined, list: [shared, shared], point: new Point(), none: null };
  await client.db('todos').create(data);
  expect(sent[0]?.body).toEqual({
    data: {
      at: '1970-01-01T00:00:00.000Z',
      url: 'https://example.org/',
      list: [shared, shared],
      point: { x: 1 },
      none: null,
    },
  });
});
