import { createClient } from '@backlot/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

/** As a page without types sees it. */
// biome-ignore lint/suspicious/noExplicitAny: the guesses are wrong on purpose
type Untyped = any;

interface Guess {
  typed: string;
  call(client: Untyped): unknown;
  /** In the error, its hint or what the client shows. */
  leadsTo: string[];
}

const email = 'eve@example.org';
const password = 'a good long password';
const title = 'Buy milk';

/** What people and code generators type who know the client by its first lines alone. */
const guesses: Guess[] = [
  {
    typed: 'createClient(url, key)',
    call: ({ transport }) => (createClient as Untyped)(transport.url(''), 'bk_key'),
    leadsTo: ['key (secret, for servers)'],
  },
  {
    typed: 'createClient(url, { apiKey })',
    call: ({ transport }) => (createClient as Untyped)(transport.url(''), { apiKey: 'bk_key' }),
    leadsTo: ['key (secret, for servers), storage, fetch, viewAs and retries, not "apiKey"'],
  },
  {
    typed: 'createClient(host)',
    call: ({ transport }) =>
      createClient(new URL(transport.url('')).origin)
        .db('todos')
        .list(),
    leadsTo: ['The API is below /api/runtime/<project>'],
  },
  {
    typed: 'auth.signUp(email, password)',
    call: ({ auth }) => auth.signUp(email, password),
    leadsTo: ['an object with "email", "password" and perhaps "name"'],
  },
  {
    typed: 'auth.signIn(email, password)',
    call: ({ auth }) => auth.signIn(email, password),
    leadsTo: ['an object with "email", "password"'],
  },
  {
    typed: 'auth.login({ email, password })',
    call: ({ auth }) => auth.login({ email, password }),
    leadsTo: ['auth.signIn({ email, password })'],
  },
  {
    typed: "from('todos').select()",
    call: (client) => client.from('todos').select(),
    leadsTo: ["client.db('todos')"],
  },
  {
    typed: 'update(record)',
    call: async ({ db }) => {
      const record = await db('todos').create({ title });
      await db('todos').update({ ...record, done: true });
    },
    leadsTo: ['an object with any of "data", "unset", "inc"', 'PATCH /db/<collection>/<id>'],
  },
  {
    typed: 'update(id, { done: true })',
    call: async ({ db }) => {
      const { id } = await db('todos').create({ title });
      await db('todos').update(id, { done: true });
    },
    leadsTo: ['as in {"data":{"done":true}}'],
  },
  {
    typed: 'get(undefined)',
    call: ({ db }) => db('todos').get(undefined),
    leadsTo: ['"undefined" in place of <id>'],
  },
  {
    typed: 'list({ done: true })',
    call: ({ db }) => db('todos').list({ done: true }),
    leadsTo: ['where={"done":true}'],
  },
  {
    typed: "list('done')",
    call: ({ db }) => db('todos').list('done'),
    leadsTo: ['Options are an object, such as { limit: 20 }.'],
  },
  {
    typed: 'list({ filter: { done: true } })',
    call: ({ db }) => db('todos').list({ filter: { done: true } }),
    leadsTo: ['did you mean "where"?'],
  },
  {
    typed: "storage.list('photos')",
    call: ({ storage }) => storage.list('photos'),
    leadsTo: ['Options are an object, such as { limit: 20 }.'],
  },
  {
    typed: "list({ sort: { createdAt: 'desc' } })",
    call: ({ db }) => db('todos').list({ sort: { createdAt: 'desc' } }),
    leadsTo: ['"-" before it for descending'],
  },
  {
    typed: 'create({ data: { title } })',
    call: ({ db }) => db('todos').create({ data: { title } }),
    leadsTo: ['create({"title":"x"})'],
  },
  {
    typed: 'create([{ title }])',
    call: ({ db }) => db('todos').create([{ title }]),
    leadsTo: ['_batch {"create":[{"data":{"title":"x"}}]}'],
  },
  {
    typed: "ai.generate('Hello')",
    call: ({ ai }) => ai.generate('Hello'),
    leadsTo: ['"messages" is missing: send a list such as [{"role": "user", "content": "Hello"}]'],
  },
  {
    typed: "ai.generate({ messages: ['Hello'] })",
    call: ({ ai }) => ai.generate({ messages: ['Hello'] }),
    leadsTo: ['"messages.0" must be an object such as {"role": "user", "content": "Hello"}'],
  },
  {
    typed: 'ai.generate({ messages, stream: true })',
    call: ({ ai }) => ai.generate({ messages: [{ role: 'user', content: 'Hi' }], stream: true }),
    leadsTo: ['client.ai.stream({ messages })'],
  },
  {
    typed: 'ai.stream({ messages }, onText)',
    call: ({ ai }) => ai.stream({ messages: [] }, () => {}),
    leadsTo: ['for await (const text of client.ai.stream({ messages }))'],
  },
  {
    typed: "storage.upload(file, 'b.txt')",
    call: ({ storage }) => storage.upload(new Blob(['x']), 'b.txt'),
    leadsTo: ['a File or Blob: storage.upload(file, { name, onProgress })'],
  },
  {
    typed: "storage.upload('a/b.txt', file)",
    call: ({ storage }) => storage.upload('a/b.txt', new Blob(['x'])),
    leadsTo: ['a File or Blob: storage.upload(file, { name, onProgress })'],
  },
  {
    typed: 'storage.sign(file, 60)',
    call: async ({ storage }) => storage.sign(await storage.upload(new Blob(['x'])), 60),
    leadsTo: ['POST /storage/files/<id>/sign'],
  },
  {
    typed: 'storage.upload(file, { onUploadProgress })',
    call: ({ storage }) => storage.upload(new Blob(['x']), { onUploadProgress: () => {} }),
    leadsTo: ['onProgress'],
  },
  {
    typed: 'storage.upload(file, { public: false })',
    call: ({ storage }) => storage.upload(new Blob(['x']), { public: false }),
    leadsTo: ['"public" (did you mean "visibility"?)'],
  },
  {
    typed: 'create({ file })',
    call: ({ db }) => db('todos').create({ file: new File(['x'], 'x.txt') }),
    leadsTo: ['"data.file" (File) is no JSON', 'client.storage.upload(file)'],
  },
  {
    typed: "auth.signInWithOAuth({ provider: 'google' })",
    call: ({ auth }) => auth.signInWithOAuth({ provider: 'google' }),
    leadsTo: ['There is no auth.signInWithOAuth', "client.auth.signInWith('google')"],
  },
  {
    typed: "functions.invoke('hello')",
    call: ({ functions }) => functions.invoke('hello'),
    leadsTo: ['There is no client.functions', 'createClient(baseUrl, { key })'],
  },
  {
    typed: "rpc('total')",
    call: (client) => client.rpc('total'),
    leadsTo: ['There is no client.rpc', "client.db('todos').list("],
  },
  {
    typed: "db('todos').search('milk')",
    call: ({ db }) => db('todos').search('milk'),
    leadsTo: ["client.db('todos').list({ search:"],
  },
  {
    typed: 'storage.getPublicUrl(id)',
    call: ({ storage }) => storage.getPublicUrl('x'),
    leadsTo: ['There is no storage.getPublicUrl', 'the `url` that upload and list answer'],
  },
  {
    typed: 'email.send(to, subject, html)',
    call: (client) => client.email.send('ada@example.org', 'Hi', '<p>Hi</p>'),
    leadsTo: [
      'an object with any of "to", "cc", "bcc", "replyTo", "attachments", "subject", "html"',
    ],
  },
  {
    typed: 'payments.list({ state })',
    call: ({ payments }) => payments.list({ state: 'paid' }),
    leadsTo: ['"state" (did you mean "status"?)'],
  },
];

describe('what a newcomer types with the client', () => {
  let platform: PlatformUnderTest;
  let client: Untyped;
  let shown: string[];
  const { warn } = console;
  beforeAll(async () => {
    platform = await platformUnderTest('in-process');
    const { id } = await platform.newProject();
    client = createClient(`${platform.url}/api/runtime/${id}`);
    await client.auth.signUp({ email: 'ada@example.org', password });
  });
  beforeEach(() => {
    shown = [];
    console.warn = (text: string) => void shown.push(text);
  });
  afterEach(() => {
    console.warn = warn;
  });
  afterAll(() => platform.stop());

  it.each(guesses.map((guess) => [guess.typed, guess] as const))(
    '%s is led on',
    async (_typed, { call, leadsTo }) => {
      const guess = async () => void (await call(client));
      await guess().catch(({ message, hint }) => shown.push(message, hint));
      for (const words of leadsTo) expect(shown.join(' ')).toContain(words);
    },
  );
});
