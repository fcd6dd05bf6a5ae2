import { aiRoutes } from '@backlot/contract';
import { anonymous, asKey, asUser, refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { callId, createTestBed, reserved, type TestBed } from '../testing/test-bed.ts';

const hello = { messages: [{ role: 'user', content: 'Hello there' }] };

describe('generateText', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  refusesStrangers(
    aiRoutes.generateText,
    () => bed.http,
    () => ({ path: '/ai', body: hello }),
  );

  it('answers a text that says it is a demo, the same each time, without a data key', async () => {
    const answer = await bed.ask({
      system: 'Be brief.',
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Hello' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is ' },
            { type: 'text', text: 'two?' },
          ],
        },
      ],
    });
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body)).toEqual(['text']);
    expect(answer.body.text).toMatch(/demo.*What is two\?$/s);
    const [first, second] = [await bed.ask(hello), await bed.ask(hello)];
    expect(first.body).toEqual(second.body);
    await bed.takeUsage();
  });

  it('records what was used once, before it answers, and states it', async () => {
    const answer = await bed.ask({ ...hello, maxTokens: 200 });
    const [usage, ...more] = await bed.takeUsage();
    expect(more).toEqual([]);
    expect(usage).toMatchObject({
      callId,
      projectId: testProject.id,
      projectNumber: testProject.number,
      ownerId: testProject.ownerId,
      route: 'generateText',
      millicredits: 1000,
    });
    const tokens = Math.ceil('Hello there'.length / 4) + Math.ceil(answer.body.text.length / 4);
    expect(usage?.units).toEqual({ tokens });
    expect(answer.headers.get('x-backlot-usage')).toBe('1000');
  });

  it('costs a credit for 1,000 tokens where it uses more than those', async () => {
    const content = 'x'.repeat(100_000);
    const answer = await bed.ask(
      { messages: [{ role: 'user', content }] },
      { identity: reserved(200_000) },
    );
    const [usage] = await bed.takeUsage();
    expect(usage?.millicredits).toBe(25_000 + Math.ceil(answer.body.text.length / 4));
    expect(answer.headers.get('x-backlot-usage')).toBe(String(usage?.millicredits));
  });

  it('serves every caller, and records nothing where nothing was reserved', async () => {
    for (const identity of [
      asUser('018f0000-0000-7000-8000-000000000001'),
      asKey(),
      reserved(null),
    ]) {
      const answer = await bed.ask(hello, { identity });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('x-backlot-usage')).toBeNull();
    }
    expect(await bed.takeUsage()).toEqual([]);
  });

  it('cuts the text at maxTokens', async () => {
    for (const maxTokens of [1, 5, 20]) {
      const { body } = await bed.ask({ ...hello, maxTokens });
      expect(Buffer.byteLength(body.text)).toBeLessThanOrEqual(maxTokens * 4);
      expect(body.text.length).toBeGreaterThan((maxTokens - 1) * 4);
    }
    await bed.takeUsage();
  });

  it('is held to what was reserved, and answers 402 where that does not cover the prompt', async () => {
    const messages = [{ role: 'user', content: 'y'.repeat(3980) }];
    const short = await bed.ask({ messages }, { identity: reserved(1000) });
    expect(short.status).toBe(200);
    expect(short.body.text).toHaveLength(20);
    expect(short.headers.get('x-backlot-usage')).toBe('1000');
    expect(await bed.takeUsage()).toMatchObject([{ millicredits: 1000, units: { tokens: 1000 } }]);

    const object = await bed.ask(
      { messages, json: { type: 'string', minLength: 60 } },
      { identity: reserved(1013) },
    );
    const none = await bed.ask({ messages }, { identity: reserved(995) });
    for (const refused of [object, none]) {
      expect(refused).toMatchObject({ status: 402, body: { code: 'out_of_credits' } });
      expect(refused.headers.get('x-backlot-usage')).toBeNull();
    }
    expect(await bed.takeUsage()).toEqual([]);
  });

  it('charges, and is held to, the price that was in force when it was admitted', async () => {
    const messages = [{ role: 'user', content: 'y'.repeat(3980) }];
    const priced = (millicredits: number) => ({
      identity: anonymous({ reservation: { callId, millicredits, millicreditsPerUnit: 2500 } }),
    });
    const short = await bed.ask({ messages }, priced(2500));
    expect(short.body.text).toHaveLength(20);
    expect(short.headers.get('x-backlot-usage')).toBe('2500');
    expect(await bed.takeUsage()).toMatchObject([{ millicredits: 2500, units: { tokens: 1000 } }]);
    expect((await bed.ask({ messages }, priced(2487))).status).toBe(402);
  });

  it('answers a JSON object with json: true, whatever fits', async () => {
    for (const maxTokens of [undefined, 10, 1]) {
      const { status, body } = await bed.ask({ ...hello, json: true, maxTokens });
      expect(status).toBe(200);
      expect(JSON.parse(body.text)).toEqual(body.data);
      expect(body.data).toEqual(expect.any(Object));
    }
    const { body } = await bed.ask({ ...hello, json: true });
    expect(body.data).toMatchObject({ demo: true, message: expect.stringContaining('demo') });
    expect((await bed.ask({ ...hello, json: false })).body).not.toHaveProperty('data');
    await bed.takeUsage();
  });

  it('answers a value that satisfies the schema, null included', async () => {
    const recipe = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: {
        title: { type: 'string', minLength: 3 },
        minutes: { type: 'integer', minimum: 1, maximum: 90 },
        steps: { type: 'array', items: { type: 'string' }, minItems: 2, maxItems: 4 },
      },
      required: ['title', 'minutes', 'steps'],
      additionalProperties: false,
    };
    const { status, body } = await bed.ask({ ...hello, json: recipe });
    expect(status).toBe(200);
    expect(Object.keys(body.data).sort()).toEqual(['minutes', 'steps', 'title']);
    expect(body.data.minutes).toBeGreaterThanOrEqual(1);
    expect(body.data.minutes).toBeLessThanOrEqual(90);
    expect(JSON.parse(body.text)).toEqual(body.data);
    expect((await bed.ask({ ...hello, json: { type: 'null' } })).body).toEqual({
      text: 'null',
      data: null,
    });
    await bed.takeUsage();
  });

  it('answers in the form of an example or a sketch', async () => {
    const data = async (json: unknown) => (await bed.ask({ ...hello, json })).body.data;
    expect(await data({ name: 'string' })).toEqual({ name: expect.any(String) });
    const sketch = { title: 'string', pages: 'Integer', tags: ['string'], author: { age: 36 } };
    const book = await data(sketch);
    expect(book).toEqual({
      title: expect.any(String),
      pages: expect.any(Number),
      tags: expect.any(Array),
      author: { age: expect.any(Number) },
    });
    expect(Number.isInteger(book.pages)).toBe(true);
    for (const tag of book.tags) expect(tag).toEqual(expect.any(String));
    expect(await data({ type: 'banana' })).toEqual({ type: expect.any(String) });
    const { note } = await data({ note: 'string?' });
    expect(note === null || typeof note === 'string').toBe(true);
    await bed.takeUsage();
  });

  it('answers any JSON where the schema is empty', async () => {
    const answer = await bed.ask({ ...hello, json: {} });
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual(JSON.parse(answer.body.text));
    await bed.takeUsage();
  });

  it('replays an answer under its Idempotency-Key without a second charge', async () => {
    const headers = { 'idempotency-key': 'once' };
    const first = await bed.ask(hello, { headers });
    const replay = await bed.ask(hello, { headers });
    expect(first.headers.get('x-backlot-usage')).toBe('1000');
    expect(replay.body).toEqual(first.body);
    expect(replay.headers.get('idempotent-replayed')).toBe('true');
    expect(replay.headers.get('x-backlot-usage')).toBeNull();
    expect(await bed.takeUsage()).toHaveLength(1);
  });

  it('does the work of parallel calls with one Idempotency-Key once', async () => {
    const headers = { 'idempotency-key': 'parallel' };
    const answers = await Promise.all(Array.from({ length: 8 }, () => bed.ask(hello, { headers })));
    const charged = answers.filter((answer) => answer.headers.has('x-backlot-usage'));
    expect(charged).toHaveLength(1);
    for (const { status } of answers) expect([200, 409]).toContain(status);
    expect(await bed.takeUsage()).toHaveLength(1);
  });

  const user = (content: unknown) => ({ role: 'user', content });
  it.each([
    ['messages', {}],
    ['messages', { messages: [] }],
    ['messages', { messages: 'hi' }],
    ['messages', { messages: Array.from({ length: 101 }, () => user('x')) }],
    ['messages', { messages: [user('x'), { role: 'assistant', content: 'y' }] }],
    ['messages', { messages: [user('x'.repeat(100_001)), user('x'.repeat(100_000))] }],
    ['messages', { ...hello, system: 'x'.repeat(200_000) }],
    ['messages.0.role', { messages: [{ role: 'tool', content: 'x' }] }],
    ['messages.0.content', { messages: [user(5)] }],
    ['messages.0.content', { messages: [user([{ type: 'image_url', image_url: 'x' }])] }],
    ['messages.0.content', { messages: [user('\0')] }],
    ['messages.0.content', { messages: [user('\ud800')] }],
    ['system', { ...hello, system: 5 }],
    ['maxTokens', { ...hello, maxTokens: 0 }],
    ['maxTokens', { ...hello, maxTokens: 4097 }],
    ['maxTokens', { ...hello, maxTokens: 1.5 }],
    ['maxTokens', { ...hello, maxTokens: 2, json: { type: 'string', minLength: 50 } }],
    ['stream', { ...hello, stream: 'yes' }],
    ['prompt', { ...hello, prompt: 'Not a name' }],
    ['prompt', { ...hello, prompt: 'unknown' }],
    ['system', { ...hello, prompt: 'unknown', system: 'Be rude.' }],
    ['messages', { messages: [{ role: 'system', content: 'x' }, user('y')], prompt: 'unknown' }],
    ['json', { ...hello, stream: true, json: { not: {} } }],
    ['json', { ...hello, json: 'yes' }],
    ['json', { ...hello, json: [] }],
    ['json', { ...hello, json: { type: 'object', properties: { a: { type: 'banana' } } } }],
    ['json', { ...hello, json: { $ref: 'http://127.0.0.1:1/schema.json' } }],
    ['json', { ...hello, json: { not: {} } }],
  ])('answers 400 that names %s, and charges nothing', async (field, body) => {
    const answer = await bed.ask(body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect(answer.body.error).toContain(`"${field}"`);
    expect(answer.headers.get('x-backlot-usage')).toBeNull();
    expect(await bed.takeUsage()).toEqual([]);
  });

  it('refuses a schema that is nested too deeply to be written', async () => {
    const json = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;
    const answer = await bed.ask(`${JSON.stringify(hello).slice(0, -1)},"json":${json}}`);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect(answer.body.error).toContain('"json"');
    expect(await bed.takeUsage()).toEqual([]);
  });

  it('takes 200,000 characters', async () => {
    const messages = [user('x'.repeat(199_000)), user('x'.repeat(1000))];
    expect(await bed.ask({ messages }, { identity: reserved(300_000) })).toMatchObject({
      status: 200,
    });
    await bed.takeUsage();
  });

  it('never fails on our side, whatever is sent', async () => {
    const anyJson = fc.oneof(fc.jsonValue({ maxDepth: 4 }), fc.string({ unit: 'binary' }));
    const message = fc.record(
      { role: fc.oneof(fc.constantFrom('user', 'system', '__proto__'), anyJson), content: anyJson },
      { requiredKeys: [] },
    );
    const schema = fc.dictionary(
      fc.constantFrom(
        'type',
        'properties',
        'items',
        'minLength',
        'pattern',
        '$ref',
        '$async',
        'allOf',
        'const',
        '__proto__',
        'format',
        '$id',
      ),
      fc.oneof(anyJson, fc.constantFrom('string', '#', {}, 1e300, '(', 'http://x/')),
      { maxKeys: 4 },
    );
    const body = fc.oneof(
      anyJson,
      fc.record(
        {
          messages: fc.oneof(fc.array(message), fc.constant(hello.messages), anyJson),
          system: anyJson,
          json: fc.oneof(schema, anyJson),
          maxTokens: fc.oneof(fc.integer({ min: 1, max: 300 }), anyJson),
          stream: fc.oneof(fc.boolean(), anyJson),
          prompt: fc.oneof(fc.constant('unknown'), anyJson),
        },
        { requiredKeys: ['messages'] },
      ),
      schema.map((json) => ({ ...hello, json })),
    );
    await fc.assert(
      fc.asyncProperty(body, async (value) => {
        const answer = await bed.ask(JSON.stringify(value));
        expect(answer.status).toBeLessThan(500);
        // A stream that has begun says in its last event that "maxTokens" hold no answer in this form.
        const failure = /event: error\ndata: (.*)/.exec(String(answer.body))?.[1];
        if (failure) expect(JSON.parse(failure)).toMatchObject({ code: 'invalid_body' });
        const isCharged = answer.headers.has('x-backlot-usage');
        expect(isCharged).toBe(answer.status === 200);
        expect(await bed.takeUsage()).toHaveLength(isCharged ? 1 : 0);
      }),
      { numRuns: 150 },
    );
  });
});
