import { emailRoutes } from '@backlot/contract';
import { anonymous, testProject } from '@backlot/testing';
import { describe, expect, it } from '@jest/globals';
import { chargeFor, coveredQuantity, createRecordUsage } from './usage.ts';

const { price } = emailRoutes.sendEmail;
const callId = '018f0000-0000-7000-8000-0000000000c1';
const now = Date.UTC(2026, 10, 1);
const paying = anonymous({
  reservation: { callId, millicredits: 5000, millicreditsPerUnit: 2000 },
});
const free = [
  anonymous(),
  anonymous({ reservation: null }),
  { ...paying, project: { ...testProject, ownerId: null } },
];

describe('usage of a priced call', () => {
  const stored: unknown[] = [];
  const recordUsage = createRecordUsage(
    { append: async (topic, payload) => void stored.push({ topic, payload }) },
    price,
    () => now,
  );

  it('costs the price that was reserved by, never more than was reserved', () => {
    expect([0, 1, 2, 3].map((used) => chargeFor(paying, price, used))).toEqual([
      0, 2000, 4000, 5000,
    ]);
    expect(coveredQuantity(paying, price)).toBe(2);
  });

  it('is stored for the ledger under the name of its price', async () => {
    await recordUsage(paying, 2);
    expect(stored.splice(0)).toEqual([
      {
        topic: 'usage.recorded',
        payload: {
          callId,
          projectId: testProject.id,
          projectNumber: testProject.number,
          ownerId: testProject.ownerId,
          route: 'sendEmail',
          millicredits: 4000,
          units: { recipients: 2 },
          occurredAt: '2026-11-01T00:00:00.000Z',
          caller: 'visitor',
          address: paying.ip,
        },
      },
    ]);
  });

  it('is neither bounded nor stored where nothing was reserved or nobody pays', async () => {
    for (const identity of free) {
      expect(chargeFor(identity, price, 2)).toBeUndefined();
      expect(coveredQuantity(identity, price)).toBe(Number.POSITIVE_INFINITY);
      await recordUsage(identity, 2);
    }
    expect(stored).toEqual([]);
  });
});
