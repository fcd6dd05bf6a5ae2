import { anonymous } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, ownerA, type TestBed } from '../testing/test-bed.ts';

describe('listPrices', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({ priceChanges: { sendEmail: 2500 } });
  });
  afterAll(() => bed.close());

  it('shows anybody the prices in force', async () => {
    for (const identity of [anonymous(), await bed.owner(ownerA), await bed.operator()]) {
      const { status, body } = await bed.call('GET', '/platform/prices', { identity });
      expect(status).toBe(200);
      expect(body).toMatchObject({ hasMore: false, nextCursor: null });
      const prices = body.items.map(
        (item: { operationId: string; millicreditsPerUnit: number }) => [
          item.operationId,
          item.millicreditsPerUnit,
        ],
      );
      expect(Object.fromEntries(prices)).toEqual({
        generateText: 1000,
        sendEmail: 2500,
        uploadFile: 1000,
      });
    }
  });

  it('answers nobody whom the gateway does not vouch for', async () => {
    expect((await bed.call('GET', '/platform/prices', { identity: null })).status).toBe(401);
  });
});
