import { expect, it } from '@jest/globals';
import type { CompletionRequest, ModelProvider, Prompt } from './model-provider.ts';

const ask = (text: string, changes: Partial<CompletionRequest> = {}): CompletionRequest => ({
  messages: [{ role: 'user', text }],
  format: 'text',
  maxOutputTokens: 500,
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

  it('ends when it is told to', async () => {
    await expect(
      provider().complete(ask('Say hello.', { signal: AbortSignal.abort() })),
    ).rejects.toThrow();
  });
};
