import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { JsonSchema } from '../json-schema/json-schemas.ts';
import { type ModelServer, startModelServer } from '../testing/model-server.ts';
import type { CompletionRequest } from './model-provider.ts';
import { createOpenaiProvider } from './openai.ts';
import { chatRequest } from './openai-request.ts';

const hello: CompletionRequest = {
  messages: [
    { role: 'system', text: 'Be brief.' },
    { role: 'user', text: 'Hello' },
    { role: 'assistant', text: 'Hi' },
    { role: 'user', text: 'A person.' },
  ],
  format: 'text',
  maxOutputTokens: 4096,
  requester: ['owner', 'project', '192.0.2.1'],
  choice: {},
  signal: new AbortController().signal,
};

const strict: JsonSchema = {
  type: 'object',
  properties: { name: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } } },
  required: ['name', 'tags'],
  additionalProperties: false,
};
const formats: [string, CompletionRequest['format']][] = [
  ['text', 'text'],
  ['any JSON object', 'json'],
  ['a schema that strict mode takes', { schema: strict }],
  ['a schema that it does not take', { schema: { type: 'object', minProperties: 1 } }],
  ['a schema of no object', { schema: { type: 'array', items: { type: 'integer' } } }],
];

describe('OpenAI’s own description', () => {
  let server: ModelServer;
  let judge: ValidateFunction;
  beforeAll(async () => {
    server = await startModelServer();
    const folder = process.env.VENDOR_SPECS;
    if (!folder) throw new Error('Set VENDOR_SPECS to the folder of the descriptions.');
    const api: object = JSON.parse(await readFile(join(folder, 'openai.trim.json'), 'utf8'));
    const ajv = new Ajv2020({ strict: false, logger: false });
    addFormats.default(ajv);
    ajv.addSchema(api, 'openai');
    judge = ajv.compile({
      $ref: 'openai#/components/schemas/CreateChatCompletionRequest',
    });
  });
  afterAll(() => server.stop());

  const judged = (body: unknown) => ({ accepted: judge(body), errors: judge.errors });

  it('tells a good request from a bad one', () => {
    const messages = [{ role: 'user', content: 'x' }];
    expect(judged({ model: 'gpt', messages }).accepted).toBe(true);
    for (const bad of [
      { model: 'gpt' },
      { model: 'gpt', messages: [{ role: 'robot', content: 'x' }] },
      { model: 'gpt', messages, temperature: 5 },
      { model: 'gpt', messages, response_format: { type: 'json_schema', json_schema: {} } },
    ]) {
      expect(judged(bad).accepted).toBe(false);
    }
  });

  it.each(formats)('takes what we send for %s', async (_what, format) => {
    const provider = createOpenaiProvider({
      endpoints: [{ baseUrl: server.baseUrl, apiKey: 'sk-x', model: 'gpt-5' }],
      firstPieceTimeoutMs: 1000,
    });
    server.answers();
    await provider.complete({ ...hello, format });
    for await (const _piece of provider.stream({ ...hello, format }));
    const sent = server.chats();
    expect(sent).toHaveLength(2);
    expect(sent[1]).toMatchObject({ stream: true, stream_options: { include_usage: true } });
    for (const body of sent) expect(judged(body)).toEqual({ accepted: true, errors: null });
  });

  it('takes images among the parts of a message', () => {
    const parts = [
      { type: 'text' as const, text: 'Which is larger?' },
      { type: 'image' as const, fileId: 'a' },
      { type: 'image' as const, fileId: 'b' },
    ];
    const messages = [...hello.messages, { role: 'user' as const, text: 'Which?', parts }];
    const images = new Map([
      ['a', 'AAAA'],
      ['b', 'BBBB'],
    ]);
    const place = { baseUrl: 'https://api.openai.com/v1', model: 'gpt-5' };
    const body = chatRequest({ ...hello, messages, images }, place);
    expect(body.messages.at(-1)).toEqual({
      role: 'user',
      content: [
        { type: 'text', text: 'Which is larger?' },
        { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,AAAA' } },
        { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,BBBB' } },
      ],
    });
    expect(judged(body)).toEqual({ accepted: true, errors: null });
  });

  it.each(formats)('takes what we would send to OpenAI for %s', (_what, format) => {
    const place = { baseUrl: 'https://api.openai.com/v1', model: 'gpt-5' };
    const body = chatRequest({ ...hello, format }, place);
    expect(body).toHaveProperty('max_completion_tokens', 4096);
    expect(body).not.toHaveProperty('max_tokens');
    expect(judged(body)).toEqual({ accepted: true, errors: null });
  });
});
