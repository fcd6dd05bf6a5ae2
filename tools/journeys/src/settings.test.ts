import { readConfig } from '@backlot/all-in-one';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

const issuer = 'https://accounts.example.org';

describe('the platform in one process', () => {
  let platform: PlatformUnderTest;
  beforeAll(async () => {
    platform = await platformUnderTest('in-process', { BACKLOT_TOKEN_ISSUER: issuer });
  });
  afterAll(() => platform.stop());

  it('knows the tokens of the issuer that is set', async () => {
    const { token, id } = await platform.signUp('demo');
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    expect(claims.iss).toBe(issuer);
    const me = await platform.runtime()('GET', '/auth/me', { token });
    expect(me).toMatchObject({ status: 200, body: { user: { id } } });
  });

  it('refuses what a gateway of its own refuses', () => {
    const wrong = {
      BACKLOT_OPERATOR_TOKEN: `bk_${'x'.repeat(43)}`,
      BACKLOT_ACCESS_LOG: 'perhaps',
      BACKLOT_TOKEN_ISSUER: 'x'.repeat(256),
      BACKLOT_LOG_LEVEL: 'loud',
    };
    for (const name of Object.keys(wrong)) expect(() => readConfig(wrong)).toThrow(name);
  });
});
