import { expect, it } from '@jest/globals';
import type { Completion, CompletionRequest, ModelProvider, Prompt } from './model-provider.ts';

const ask = (text: string, changes: Partial<CompletionRequest> = {}): CompletionRequest => ({
  messages: [{ role: 'user', text }],
  format: 'text',
  maxOutputTokens: 500,
  requester: ['owner', 'project', '192.0.2.1'],
  choice: {},
  signal: new AbortController().signal,
  ...changes,
});

const schema = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
  additionalProperties: false,
};

const readAll = async (pieces: AsyncIterable<string | Completion>) => {
  const all: (string | Completion)[] = [];
  for await (const piece of pieces) all.push(piece);
  const completion = all.pop();
  if (completion === undefined || typeof completion === 'string') throw new Error('no whole');
  return { pieces: all, completion };
};

/** What every model provider keeps to. */
export const conformsAsModelProvider = (provider: () => ModelProvider): void => {
  it('answers with text and counts the tokens of both sides', async () => {
    const completion = await provider().complete(ask('Say hello.'));
    expect(completion.text).not.toBe('');
    expect(completion.isCut).toBe(false);
    for (const tokens of [completion.promptTokens, completion.outputTokens]) {
      expect(Number.isInteger(tokens) && tokens >= 1).toBe(true);
    }
  });

  it('counts no more prompt tokens than it announces', async () => {
    const prompts: Prompt[] = [
      ask(''),
      ask('Say hello.'),
      ask('héllo 🌍 '.repeat(200)),
      ask('A person.', { format: { schema } }),
      { messages: [{ role: 'system', text: 'Brief.' }, ...ask('Hi').messages], format: 'json' },
    ];
    for (const prompt of prompts) {
      const { promptTokens } = await provider().complete({ ...ask(''), ...prompt });
      expect(promptTokens).toBeLessThanOrEqual(provider().promptTokensAtMost(prompt));
    }
  });

  it('puts out no more tokens than it may, and says that it was cut', async () => {
    for (const maxOutputTokens of [1, 2, 7]) {
      const long = 'Repeat this sentence ten times, each in a different 🌍 language. '.repeat(5);
      const { text, outputTokens, isCut } = await provider().complete(
        ask(long, { maxOutputTokens }),
      );
      expect(outputTokens).toBeLessThanOrEqual(maxOutputTokens);
      expect(text.isWellFormed()).toBe(true);
      expect(isCut).toBe(true);
    }
  });

  it('answers a JSON object where JSON is asked for', async () => {
    const { text } = await provider().complete(ask('A person, as JSON.', { format: 'json' }));
    expect(Object.prototype.toString.call(JSON.parse(text))).toBe('[object Object]');
  });

  it('answers in the form of a schema', async () => {
    const { text } = await provider().complete(ask('A person.', { format: { schema } }));
    expect(JSON.parse(text)).toEqual({ name: expect.any(String), age: expect.any(Number) });
  });

  it('stops when it is aborted', async () => {
    await expect(
      provider().complete(ask('Say hello.', { signal: AbortSignal.abort() })),
    ).rejects.toThrow();
  });

  it('streams the text in pieces, and last the same whole', async () => {
    for (const request of [
      ask('Say hello to the 🌍.'),
      ask('A person.', { format: { schema } }),
      ask('A person, as JSON.', { format: 'json' }),
      ask('Say a lot. '.repeat(20), { maxOutputTokens: 7 }),
    ]) {
      const { pieces, completion } = await readAll(provider().stream(request));
      expect(pieces.join('')).toBe(completion.text);
      expect(completion).toEqual(await provider().complete(request));
    }
    const { pieces } = await readAll(provider().stream(ask('Say hello.')));
    expect(pieces.length).toBeGreaterThan(1);
  });

  it('stops a stream when it is aborted, or when its reader stops', async () => {
    const gone = new AbortController();
    const aborted = provider().stream(ask('Say a lot. '.repeat(20), { signal: gone.signal }));
    expect((await aborted.next()).value).toEqual(expect.any(String));
    gone.abort();
    await expect(readAll(aborted)).rejects.toThrow();
    for await (const piece of provider().stream(ask('Say hello.'))) {
      expect(piece).toEqual(expect.any(String));
      break;
    }
  });
};
