import { describe, expect, it } from '@jest/globals';
import { parseConfig } from './config.ts';

const needed = {
  DATABASE_URL: 'postgres://localhost/backlot',
  BACKLOT_IDENTITY_SECRET: 'x'.repeat(32),
};

describe('parseConfig', () => {
  it('waits a minute for the model unless told otherwise', () => {
    expect(parseConfig(needed)).toMatchObject({ answerTimeoutMs: 60_000 });
    expect(parseConfig({ ...needed, BACKLOT_AI_TIMEOUT_SECONDS: '5' })).toMatchObject({
      answerTimeoutMs: 5000,
    });
  });

  it.each([
    ['BACKLOT_AI_TIMEOUT_SECONDS', 'soon'],
    ['BACKLOT_AI_TIMEOUT_SECONDS', '300'],
  ])('refuses %s=%s, naming it', (name, value) => {
    expect(() => parseConfig({ ...needed, [name]: value })).toThrow(name);
  });
});
