import { afterAll, describe, expect, it } from '@jest/globals';
import { createJsonSchemas } from '../json-schema/json-schemas.ts';
import { createDemoProvider } from './demo.ts';
import { conformsAsModelProvider } from './model-provider.conformance.ts';

describe('the demo provider', () => {
  const schemas = createJsonSchemas();
  const provider = createDemoProvider(schemas);
  afterAll(() => schemas.close());

  conformsAsModelProvider(() => provider);

  const signal = new AbortController().signal;
  const requester = ['owner', 'project', '192.0.2.1'] as const;
  const ask = (text: string, maxOutputTokens = 4096) =>
    provider.complete({
      messages: [{ role: 'user', text }],
      format: 'text',
      maxOutputTokens,
      choice: {},
      requester,
      signal,
    });

  it('says that it is a demo and counts four bytes as a token', async () => {
    const { text, promptTokens, outputTokens } = await ask('12345');
    expect(text).toContain('demo');
    expect(promptTokens).toBe(2);
    expect(outputTokens).toBe(Math.ceil(Buffer.byteLength(text) / 4));
    expect((await ask('')).promptTokens).toBe(1);
  });

  it('gives the same value for the same prompt, another for another', async () => {
    const format = { schema: { type: 'string', minLength: 20 } };
    const value = async (text: string) =>
      (
        await provider.complete({
          messages: [{ role: 'user', text }],
          format,
          maxOutputTokens: 100,
          choice: {},
          requester,
          signal,
        })
      ).text;
    expect(await value('a')).toBe(await value('a'));
    expect(await value('a')).not.toBe(await value('b'));
  });
});
