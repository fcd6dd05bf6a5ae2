import { describe, expect, it } from '@jest/globals';
import { parseConfig } from './config.ts';

const needed = {
  DATABASE_URL: 'postgres://localhost/backlot',
  BACKLOT_IDENTITY_SECRET: 'x'.repeat(32),
};

describe('parseConfig', () => {
  it('asks for the database and the identity secret only', () => {
    expect(parseConfig(needed)).toMatchObject({ port: 8083, answerTimeoutMs: 60_000 });
    expect(() => parseConfig({})).toThrow('DATABASE_URL');
  });

  it.each([
    ['BACKLOT_AI_TIMEOUT_SECONDS', 'soon'],
    ['BACKLOT_AI_TIMEOUT_SECONDS', '300'],
    ['BACKLOT_IDENTITY_SECRET', 'short'],
  ])('refuses %s=%s, naming it', (name, value) => {
    expect(() => parseConfig({ ...needed, [name]: value })).toThrow(name);
  });
});
