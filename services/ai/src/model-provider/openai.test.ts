import type { ServerResponse } from 'node:http';
import { until } from '@backlot/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type ModelServer, startModelServer } from '../testing/model-server.ts';
import { conformsAsModelProvider } from './model-provider.conformance.ts';
import { type CompletionRequest, ModelKeyRefused, ModelProviderFailed } from './model-provider.ts';
import { createOpenaiProvider, type OpenaiOptions } from './openai.ts';

const hello: CompletionRequest = {
  messages: [{ role: 'user', text: 'Hello there' }],
  format: 'text',
  maxOutputTokens: 100,
  requester: ['owner', 'project', '192.0.2.1'],
  choice: {},
  signal: new AbortController().signal,
};
/** At once: a server that says when to come back is believed. */
const busy = { error: { message: 'Slow down, sk-secret' }, status: 429, retryAfter: 0 };
const refusal = { error: { message: 'No such model: gpt-secret' }, status: 404 };
const never = () => new Promise<never>(() => {});

const sendJson = (json: unknown) => (res: ServerResponse) => {
  res.setHeader('content-type', 'application/json');
  res.end(JSON.stringify(json));
};

const readAll = async (pieces: AsyncIterable<unknown>) => {
  const all: unknown[] = [];
  for await (const piece of pieces) all.push(piece);
  return all;
};

describe('the OpenAI provider', () => {
  let first: ModelServer;
  let second: ModelServer;
  beforeAll(async () => {
    [first, second] = await Promise.all([startModelServer(), startModelServer()]);
  });
  afterEach(() => {
    first.answers();
    second.answers();
  });
  afterAll(() => Promise.all([first.stop(), second.stop()]));

  const openaiProvider = (servers: ModelServer[], options: Partial<OpenaiOptions> = {}) =>
    createOpenaiProvider({
      endpoints: servers.map(({ baseUrl }, index) => ({
        baseUrl,
        apiKey: `sk-operator-${index}`,
        model: `model-${index}`,
      })),
      firstPieceTimeoutMs: 10_000,
      ...options,
    });

  const providerAt = (name: string, answer: (res: ServerResponse) => void) =>
    createOpenaiProvider({
      endpoints: [{ baseUrl: first.mounted(name, answer), model: 'm' }],
      firstPieceTimeoutMs: 10_000,
    });

  describe('with one endpoint', () => {
    conformsAsModelProvider(() => openaiProvider([first]));

    it('asks with its own key and model, and caps the answer', async () => {
      await openaiProvider([first]).complete(hello);
      expect(first.chats()).toEqual([
        expect.objectContaining({
          model: 'model-0',
          messages: [{ role: 'user', content: 'Hello there' }],
          max_tokens: 100,
        }),
      ]);
    });

    it('estimates the tokens that the provider does not count', async () => {
      const uncounted = {
        text: 'Hi, how are you?',
        promptTokens: 3,
        outputTokens: 4,
        isCut: false,
      };
      const choices = [{ message: { content: uncounted.text }, finish_reason: 'stop' }];
      expect(await providerAt('uncounted', sendJson({ choices })).complete(hello)).toEqual(
        uncounted,
      );
      const chunks = [
        ...['Hi, ', 'how are you?'].map((content) => ({ choices: [{ delta: { content } }] })),
        { choices: [{ delta: {}, finish_reason: 'stop' }], usage: null },
      ];
      const streamed = providerAt('uncounted-stream', (res) => {
        res.setHeader('content-type', 'text/event-stream');
        for (const chunk of chunks) res.write(`data: ${JSON.stringify(chunk)}\n\n`);
        res.end('data: [DONE]\n\n');
      });
      expect((await readAll(streamed.stream(hello))).at(-1)).toEqual(uncounted);
    });

    const whole = { promptTokens: 1, outputTokens: 2, isCut: false };
    const usage = { prompt_tokens: 1, completion_tokens: 2 };

    it.each<[string, unknown, object]>([
      [
        'parts',
        [
          { type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] },
          { type: 'text', text: 'Hi, ' },
          { type: 'text', text: 'Ada' },
        ],
        { ...whole, text: 'Hi, Ada' },
      ],
      ['no text but a limit', '', { ...whole, text: '', isCut: true }],
      ['null and a limit', null, { ...whole, text: '', isCut: true }],
    ])('reads %s', async (what, content, completion) => {
      const finish_reason = what.includes('limit') ? 'length' : 'stop';
      const choices = [{ message: { role: 'assistant', content }, finish_reason }];
      expect(
        await providerAt(what.replaceAll(' ', '-'), sendJson({ choices, usage })).complete(hello),
      ).toEqual(completion);
    });

    it.each<[string, string, unknown[], string]>([
      ['a last piece of usage alone', '\n', [{ usage }], 'data: [DONE]\n\n'],
      ['a last piece whose choices are null', '\n', [{ choices: null, usage }], ''],
      ['line ends of CRLF, and no [DONE]', '\r\n', [{ choices: [], usage }], ''],
      ['a comment between', '\n', [{ choices: [], usage }], ': keep-alive\n\ndata: [DONE]\n\n'],
    ])('reads a stream with %s', async (what, lineEnd, last, end) => {
      const chunks = [
        { choices: [{ delta: { role: 'assistant', content: null }, finish_reason: '' }] },
        { choices: [{ delta: { content: 'Hi, ' }, finish_reason: '' }] },
        { choices: [{ delta: { content: [{ type: 'text', text: 'Ada' }] } }] },
        { choices: [{ delta: {}, finish_reason: 'stop' }] },
        ...last,
      ];
      const streamed = providerAt(what.replace(/\W+/g, '-'), (res) => {
        res.setHeader('content-type', 'text/event-stream');
        for (const chunk of chunks) res.write(`data: ${JSON.stringify(chunk)}${lineEnd}${lineEnd}`);
        res.end(end);
      });
      const pieces = await readAll(streamed.stream(hello));
      expect(pieces).toEqual(['Hi, ', 'Ada', { ...whole, text: 'Hi, Ada' }]);
    });

    it.each<[string, unknown]>([
      ['no choices', { choices: [] }],
      [
        'a call of a tool',
        {
          choices: [{ message: { content: null, tool_calls: [{}] }, finish_reason: 'tool_calls' }],
        },
      ],
      ['an end that says nothing', { choices: [{ message: { content: 'x' }, finish_reason: '' }] }],
      ['no JSON object', []],
      ['no end', { choices: [{ message: { content: 'x' } }] }],
      [
        'a filtered answer',
        { choices: [{ message: { content: '' }, finish_reason: 'content_filter' }] },
      ],
    ])('fails where the provider answers with %s', async (_what, json) => {
      const provider = providerAt('odd', sendJson(json));
      await expect(provider.complete(hello)).rejects.toThrow(ModelProviderFailed);
    });

    it('fails where the provider sends without end', async () => {
      const provider = providerAt('endless', (res) => {
        res.setHeader('content-type', 'application/json');
        const more = () => {
          while (!res.destroyed && res.write('x'.repeat(1_000_000)));
        };
        res.on('drain', more);
        more();
      });
      await expect(provider.complete(hello)).rejects.toThrow(ModelProviderFailed);
    });

    it('fails after two retries in a storm of 429, without the words of the provider', async () => {
      first.answers(busy);
      const failure = await openaiProvider([first])
        .complete(hello)
        .catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ModelProviderFailed);
      expect(String(failure)).not.toContain('secret');
      expect(first.chats()).toHaveLength(3);
    });

    it('answers after one 429 or 500', async () => {
      for (const status of [429, 500]) {
        first.mock.nextRequestError(status, { message: 'try again' });
        expect((await openaiProvider([first]).complete(hello)).text).toContain('Hello there');
      }
    });

    it('fails where a stream breaks off, however it does', async () => {
      for (const options of [{ truncateAfterChunks: 2 }, { chaos: { disconnectRate: 1 } }]) {
        first.answers({ content: 'A long answer, or so it seems' }, { chunkSize: 3, ...options });
        await expect(readAll(openaiProvider([first]).stream(hello))).rejects.toThrow(
          ModelProviderFailed,
        );
      }
    });

    it('ends the call at the model where its reader goes, or is done with it', async () => {
      let closed = 0;
      const provider = providerAt('endless-stream', (res) => {
        res.setHeader('content-type', 'text/event-stream');
        res.write(`data: ${JSON.stringify({ choices: [{ delta: { content: 'Hi' } }] })}\n\n`);
        res.on('close', () => closed++);
      });
      for await (const _piece of provider.stream(hello)) break;
      await until(() => closed === 1);
      const gone = new AbortController();
      const stream = provider.stream({ ...hello, signal: gone.signal });
      await stream.next();
      gone.abort();
      await until(() => closed === 2);
      await expect(readAll(stream)).rejects.toThrow();
    });

    it('waits for a silent model until it is told to end', async () => {
      first.answers(never);
      const gone = new AbortController();
      const answer = openaiProvider([first]).complete({ ...hello, signal: gone.signal });
      const stream = readAll(openaiProvider([first]).stream({ ...hello, signal: gone.signal }));
      gone.abort();
      await expect(answer).rejects.toThrow();
      await expect(stream).rejects.toThrow();
    });
  });

  describe('with a project’s own account', () => {
    it('uses the key and the model there, and never stands in with the operator’s', async () => {
      const provider = openaiProvider([first, second]);
      const own = { ...hello, choice: { apiKey: 'sk-project', model: 'gpt-own' } };
      await provider.complete(own);
      expect(first.chats()[0]?.model).toBe('gpt-own');
      first.answers(refusal);
      await expect(provider.complete(own)).rejects.toThrow(ModelProviderFailed);
      expect(second.chats()).toEqual([]);
    });

    it('does not break the endpoint for others', async () => {
      const provider = openaiProvider([first]);
      first.answers(busy);
      for (let call = 0; call < 6; call++) {
        await expect(
          provider.complete({ ...hello, choice: { apiKey: `sk-${call}` } }),
        ).rejects.toThrow(ModelProviderFailed);
      }
      first.answers();
      expect((await provider.complete(hello)).text).toContain('Hello there');
    });

    it('tells a key that is refused from a provider that is down', async () => {
      const { signal } = hello;
      const provider = openaiProvider([first]);
      await provider.checkKey('sk-good', signal);
      const refusing = providerAt('refusing', (res) =>
        res.writeHead(401).end('{"error":{"message":"Incorrect API key: sk-bad"}}'),
      );
      await expect(refusing.checkKey('sk-bad', signal)).rejects.toThrow(ModelKeyRefused);
      const down = createOpenaiProvider({
        endpoints: [{ baseUrl: 'http://127.0.0.1:1/v1', model: 'm' }],
        firstPieceTimeoutMs: 1000,
      });
      await expect(down.checkKey('sk-good', signal)).rejects.toThrow(ModelProviderFailed);
    });
  });

  describe('with a second endpoint', () => {
    it.each<[string, Parameters<ModelServer['answers']>]>([
      ['refuses', [refusal]],
      ['is busy', [busy]],
      ['drops the connection', [{ content: 'x' }, { chaos: { disconnectRate: 1 } }]],
      ['does not answer', [never]],
    ])('falls over where the first one %s, in whole answers and streams', async (_what, faults) => {
      first.answers(...faults);
      const told: unknown[] = [];
      const provider = openaiProvider([first, second], {
        firstPieceTimeoutMs: 2000,
        onFailover: (error) => told.push(error),
      });
      const { text } = await provider.complete({ ...hello, choice: { model: 'gpt-chosen' } });
      expect(text).toContain('Hello there');
      // A call without an answer is not in its journal.
      for (const { model } of first.chats()) expect(model).toBe('gpt-chosen');
      expect(second.chats()[0]?.model).toBe('model-1');
      const pieces = await readAll(provider.stream(hello));
      expect(pieces.at(-1)).toMatchObject({ text });
      expect(told).toHaveLength(2);
      expect(JSON.stringify(told.map(String))).not.toContain('secret');
    });

    it('does not fall over once a stream has begun', async () => {
      first.answers(
        { content: 'A long answer' },
        { chunkSize: 2, truncateAfterChunks: 3, latency: 20 },
      );
      const pieces = openaiProvider([first, second]).stream(hello);
      expect((await pieces.next()).value).toEqual(expect.any(String));
      await expect(readAll(pieces)).rejects.toThrow(ModelProviderFailed);
      expect(second.chats()).toEqual([]);
    });

    it('leaves an endpoint alone after five failures, and tries it again later', async () => {
      const callsToFirst = async (breakMs: number) => {
        const provider = openaiProvider([first, second], { breakMs });
        first.answers(busy);
        for (let call = 0; call < 6; call++) await provider.complete(hello);
        return { provider, calls: first.chats().length };
      };
      // No test takes so long.
      expect((await callsToFirst(600_000)).calls).toBe(5 * 3);
      const { provider } = await callsToFirst(50);
      first.answers();
      await until(async () => {
        await provider.complete(hello);
        return first.chats().length > 0;
      });
    });

    it('fails where all do', async () => {
      first.answers(refusal);
      second.answers(refusal);
      await expect(openaiProvider([first, second]).complete(hello)).rejects.toThrow(
        ModelProviderFailed,
      );
    });
  });
});
