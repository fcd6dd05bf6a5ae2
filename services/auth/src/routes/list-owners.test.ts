import { authRoutes } from '@backlot/contract';
import { asOperator, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, platform, type TestBed } from '../test-bed.ts';

describe('listOwners', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  refusesStrangers(
    authRoutes.listOwners,
    () => bed.http,
    () => ({ path: '/owners' }),
  );

  it('answers the users of the platform alone', async () => {
    const owner = await bed.signUp({ project: platform });
    await bed.signUp();
    const identity = asOperator({ project: platform });
    const { status, body } = await bed.call('GET', '/platform/owners', { identity });
    expect(status).toBe(200);
    expect(body).toEqual({ items: [owner.user], hasMore: false, nextCursor: null });
  });
});
