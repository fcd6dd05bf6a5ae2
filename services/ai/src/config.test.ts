import { describe, expect, it } from '@jest/globals';
import { parseConfig } from './config.ts';

const needed = {
  BACKLOT_SECRETS_KEYS: Buffer.alloc(32).toString('base64'),
};

describe('parseConfig', () => {
  it('waits a minute for the model unless told otherwise', () => {
    expect(parseConfig(needed)).toMatchObject({ answerTimeoutMs: 60_000 });
    expect(parseConfig({ ...needed, BACKLOT_AI_TIMEOUT_SECONDS: '5' })).toMatchObject({
      answerTimeoutMs: 5000,
    });
  });

  it('lets owners choose any model unless told which', () => {
    expect(parseConfig(needed).models).toEqual([]);
    const BACKLOT_AI_MODELS = 'gpt-5-mini, meta/llama-3,';
    expect(parseConfig({ ...needed, BACKLOT_AI_MODELS }).models).toEqual([
      'gpt-5-mini',
      'meta/llama-3',
    ]);
  });

  it.each([
    ['BACKLOT_AI_TIMEOUT_SECONDS', 'soon'],
    ['BACKLOT_AI_TIMEOUT_SECONDS', '300'],
    ['BACKLOT_AI_CALLS', '0'],
    ['BACKLOT_SECRETS_KEYS', 'short'],
    ['BACKLOT_AI_PROVIDER', 'magic'],
    ['BACKLOT_AI_ENDPOINTS', '[{"baseUrl":"https://api.openai.com/v1","model":"m"}]'],
  ])('refuses %s=%s, naming it', (name, value) => {
    expect(() => parseConfig({ ...needed, [name]: value })).toThrow(name);
  });

  const openai = { ...needed, BACKLOT_AI_PROVIDER: 'openai' };

  it('answers with the demo unless endpoints are given, which keep their order', () => {
    expect(parseConfig(needed).provider).toEqual({ kind: 'demo' });
    const BACKLOT_AI_ENDPOINTS = JSON.stringify([
      { baseUrl: 'https://api.openai.com/v1/', apiKey: 'sk-1', model: 'gpt-5' },
      { baseUrl: 'http://ollama:11434/v1', model: 'llama3' },
    ]);
    expect(parseConfig({ ...openai, BACKLOT_AI_ENDPOINTS }).provider).toEqual({
      kind: 'openai',
      endpoints: [
        { baseUrl: 'https://api.openai.com/v1', apiKey: 'sk-1', model: 'gpt-5' },
        { baseUrl: 'http://ollama:11434/v1', model: 'llama3' },
      ],
    });
  });

  it.each([
    undefined,
    '[',
    '[]',
    '[{"baseUrl":"ftp://x","model":"m"}]',
    '[{"baseUrl":"http://x"}]',
    '[{"baseUrl":"http://x","model":"m","url":"y"}]',
  ])('refuses the endpoints %s, naming the setting and quoting no key', (endpoints) => {
    const env = { ...openai, ...(endpoints && { BACKLOT_AI_ENDPOINTS: endpoints }) };
    expect(() => parseConfig(env)).toThrow('BACKLOT_AI_ENDPOINTS');
  });
});
