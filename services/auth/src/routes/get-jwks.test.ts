import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { authRoutes } from '@backlot/contract';
import { anonymous, refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import { createTestBed, type TestBed } from '../test-bed.ts';

describe('getJwks', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  refusesStrangers(
    authRoutes.getJwks,
    () => bed.http,
    () => ({ path: '/auth/.well-known/jwks.json' }),
  );

  it('publishes public keys only, one of which verifies a token', async () => {
    const { token } = await bed.signUp();
    const { status, body } = await bed.call('GET', '/auth/.well-known/jwks.json', {
      identity: anonymous(),
    });
    expect(status).toBe(200);
    expect(body.keys).toHaveLength(2);
    for (const key of body.keys) {
      expect(Object.keys(key).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
      expect(key).toMatchObject({ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' });
    }
    const kid = jwt.decode(token, { complete: true })?.header.kid;
    const jwk = body.keys.find((key: JsonWebKey & { kid: string }) => key.kid === kid);
    const claims = jwt.verify(token, createPublicKey({ key: jwk, format: 'jwk' }), {
      algorithms: ['ES256'],
      issuer: 'backlot',
      audience: testProject.id,
    });
    expect(claims).toHaveProperty('sid');
  });
});
