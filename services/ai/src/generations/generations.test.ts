import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Completion,
  type CompletionRequest,
  ModelProviderFailed,
} from '../model-provider/model-provider.ts';
import { fakeProvider, silence } from '../testing/fake-provider.ts';
import { createTestBed, reserved, type TestBed } from '../testing/test-bed.ts';

const messages = [{ role: 'user', content: 'Give me a number' }];
const json = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };

const completion = (text: string, changes: Partial<Completion> = {}): Completion => ({
  text,
  promptTokens: 10,
  outputTokens: 20,
  isCut: false,
  ...changes,
});

/** Gives these answers in turn and remembers what it was asked. */
const scripted = (...answers: (Completion | Error)[]) => {
  const asked: CompletionRequest[] = [];
  const provider = fakeProvider(async (request) => {
    asked.push(request);
    const answer = answers[asked.length - 1];
    if (!answer || answer instanceof Error) throw answer ?? new Error('asked too often');
    return answer;
  });
  return { provider, asked };
};

describe('a model that errs', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  afterEach(async () => expect(await bed.takeUsage()).toEqual([]));

  it('gets one repair, which shows it its error and is not charged', async () => {
    const { provider, asked } = scripted(
      completion('{"n":"one"}', { outputTokens: 900 }),
      completion('{"n":1}', { promptTokens: 5000, outputTokens: 3000 }),
    );
    bed.useProvider(provider);
    const answer = await bed.ask({ messages, json });
    expect(answer).toMatchObject({ status: 200, body: { text: '{"n":1}', data: { n: 1 } } });
    expect(asked[1]?.messages.slice(0, 2)).toEqual([
      { role: 'user', text: 'Give me a number' },
      { role: 'assistant', text: '{"n":"one"}' },
    ]);
    expect(asked[1]?.messages[2]?.text).toContain('n must be number');
    expect(await bed.takeUsage()).toMatchObject([{ millicredits: 3010, units: { tokens: 3010 } }]);
  });

  it.each([
    ['in a code fence', '```json\n{"n": 1}\n```', '{"n": 1}'],
    ['in a fence of CRLF between words', 'Here:\r\n```\r\n{"n": 1}\r\n```\r\nBye', '{"n": 1}'],
    ['behind a byte order mark', '\uFEFF{"n": 1}', '{"n": 1}'],
    ['behind its thoughts', '<think>{"n": 2}?</think>\n\n{"n": 1}', '{"n": 1}'],
    ['as it is', ' {"n": 1}\n', ' {"n": 1}\n'],
    ['with a fence in its text', '{"n": 1, "s": "```\\n{}\\n```"}', expect.stringContaining('```')],
  ])('is read at once where its JSON stands %s', async (_what, said, text) => {
    const { provider, asked } = scripted(completion(said), completion(said));
    bed.useProvider(provider);
    for (const form of [json, true]) {
      asked.length = 0;
      const answer = await bed.ask({ messages, json: form });
      expect(answer).toMatchObject({ status: 200, body: { text, data: { n: 1 } } });
      expect(asked).toHaveLength(1);
    }
    expect(await bed.takeUsage()).toHaveLength(2);
  });

  it('is not guessed at where it gave two fences', async () => {
    const two = completion('```\n{"n":1}\n```\nor\n```\n{"n":2}\n```');
    bed.useProvider(scripted(two, two).provider);
    expect((await bed.ask({ messages, json })).status).toBe(502);
  });

  it.each([
    ['text', {}],
    ['JSON', { json }],
    ['a stream', { stream: true }],
  ])(
    'costs nothing where it thought until the limit, which the failure names: %s',
    async (_what, form) => {
      const { provider, asked } = scripted(completion('', { isCut: true, outputTokens: 50 }));
      bed.useProvider(provider);
      const answer = await bed.ask({ messages, ...form, maxTokens: 50 });
      const said = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
      expect(said).toContain('50 were used up before the answer began');
      expect(said).toContain('invalid_body');
      expect(asked).toHaveLength(1);
      expect(await bed.takeUsage()).toEqual([]);
    },
  );

  it.each([
    ['no JSON', '{"n":', json],
    ['JSON that does not satisfy the schema', '{}', json],
    ['no object in JSON mode', '[1]', true],
    ['JSON nested without end', `${'['.repeat(5000)}${']'.repeat(5000)}`, {}],
  ])('ends in 502 after it gave %s twice', async (_what, text, form) => {
    const { provider, asked } = scripted(completion(text), completion(text));
    bed.useProvider(provider);
    const answer = await bed.ask({ messages, json: form });
    expect(answer).toMatchObject({ status: 502, body: { code: 'upstream_failed' } });
    expect(answer.headers.get('x-backlot-usage')).toBeNull();
    expect(asked).toHaveLength(2);
  });

  it('is not asked again where its answer was cut short', async () => {
    const { provider, asked } = scripted(completion('{"n":', { isCut: true }));
    bed.useProvider(provider);
    const answer = await bed.ask({ messages, json, maxTokens: 1 });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect(answer.body.error).toContain('"maxTokens"');
    expect(asked).toHaveLength(1);
  });

  it('shows as 502 without what it said, and leaves no answer under an Idempotency-Key', async () => {
    const { provider } = scripted(new ModelProviderFailed('secret host'), completion('fine'));
    bed.useProvider(provider);
    const headers = { 'idempotency-key': 'k' };
    const failed = await bed.ask({ messages }, { headers });
    expect(failed).toMatchObject({ status: 502, body: { code: 'upstream_failed' } });
    expect(JSON.stringify(failed.body)).not.toContain('secret');
    expect(await bed.takeUsage()).toEqual([]);
    expect(await bed.ask({ messages }, { headers })).toMatchObject({ body: { text: 'fine' } });
    expect(await bed.takeUsage()).toHaveLength(1);
  });

  it('shows as 504 where it does not answer in time', async () => {
    const hurried = await createTestBed({ answerTimeoutMs: 50 });
    hurried.useProvider(fakeProvider(({ signal }) => silence(signal)));
    const answer = await hurried.ask({ messages });
    expect(answer).toMatchObject({ status: 504, body: { code: 'timeout' } });
    expect(await hurried.takeUsage()).toEqual([]);
    await hurried.close();
  });

  it('never costs more than was reserved, whatever it counts', async () => {
    bed.useProvider(scripted(completion('fine', { promptTokens: 99_999 })).provider);
    const answer = await bed.ask({ messages }, { identity: reserved(1500) });
    expect(answer.headers.get('x-backlot-usage')).toBe('1500');
    expect(await bed.takeUsage()).toMatchObject([{ millicredits: 1500 }]);
  });
});
