import { describe, expect, it } from '@jest/globals';
import { aiConfig } from './config.ts';

const needed = {
  BACKLOT_SECRETS_KEYS: Buffer.alloc(32).toString('base64'),
};

describe('the settings', () => {
  it('waits a minute for the model unless told otherwise', () => {
    expect(aiConfig.read(needed)).toMatchObject({ answerTimeoutMs: 60_000 });
    expect(aiConfig.read({ ...needed, BACKLOT_AI_TIMEOUT_SECONDS: '5' })).toMatchObject({
      answerTimeoutMs: 5000,
    });
  });

  it('lets owners choose any model unless told which', () => {
    expect(aiConfig.read(needed).models).toEqual([]);
    const BACKLOT_AI_MODELS = 'gpt-5-mini, meta/llama-3,';
    expect(aiConfig.read({ ...needed, BACKLOT_AI_MODELS }).models).toEqual([
      'gpt-5-mini',
      'meta/llama-3',
    ]);
  });

  it.each(aiConfig.names.filter((name) => !(name in needed)))(
    'takes an empty %s for one that is not set',
    (name) => {
      expect(aiConfig.read({ ...needed, [name]: '' })).toEqual(aiConfig.read(needed));
    },
  );

  it.each([
    ['BACKLOT_AI_TIMEOUT_SECONDS', 'soon'],
    ['BACKLOT_AI_TIMEOUT_SECONDS', '300'],
    ['BACKLOT_AI_CALLS', '0'],
    ['BACKLOT_SECRETS_KEYS', 'short'],
    ['BACKLOT_SECRETS_KEYS', ''],
    ['BACKLOT_AI_PROVIDER', 'magic'],
    ['BACKLOT_AI_ENDPOINTS', '[{"baseUrl":"https://api.openai.com/v1","model":"m"}]'],
  ])('refuses %s=%s, naming it', (name, value) => {
    expect(() => aiConfig.read({ ...needed, [name]: value })).toThrow(name);
  });

  const openai = { ...needed, BACKLOT_AI_PROVIDER: 'openai' };

  it('answers with the demo unless endpoints are given, which keep their order', () => {
    expect(aiConfig.read(needed).provider).toEqual({ kind: 'demo' });
    const BACKLOT_AI_ENDPOINTS = JSON.stringify([
      { baseUrl: 'https://api.openai.com/v1/', apiKey: 'sk-1', model: 'gpt-5' },
      { baseUrl: 'http://ollama:11434/v1', model: 'llama3' },
    ]);
    expect(aiConfig.read({ ...openai, BACKLOT_AI_ENDPOINTS }).provider).toEqual({
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
    expect(() => aiConfig.read(env)).toThrow('BACKLOT_AI_ENDPOINTS');
  });
});
