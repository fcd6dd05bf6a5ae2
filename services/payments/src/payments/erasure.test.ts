import { asOwner, asUser } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createStripeBed, type StripeBed } from '../testing/stripe-bed.ts';
import { order, otherProject } from '../testing/test-bed.ts';
import { eraseProject, eraseUser } from './erasure.ts';

const userId = '018f0000-0000-7000-8000-00000000dddd';

describe('erasure', () => {
  let bed: StripeBed;
  beforeAll(async () => {
    bed = await createStripeBed();
  });
  afterAll(() => bed.close());

  it('removes the user from payments, and keeps the payments', async () => {
    await bed.session(order, asUser(userId));
    await bed.session(order, asUser(userId, { project: otherProject }));
    const erased = {
      projectId: 'testproject',
      projectNumber: 1001,
      userId,
      email: 'a@example.org',
    };
    for (const _ of ['once', 'again']) await eraseUser(bed.database, erased);
    expect(
      await bed.database.query('SELECT project_number, user_id FROM payments ORDER BY 1'),
    ).toEqual([
      { project_number: 1001, user_id: null },
      { project_number: 1002, user_id: userId },
    ]);
  });

  it('leaves nothing of a project, and everything of the others', async () => {
    const sessionId = await bed.session(order, asOwner());
    await bed.sendWebhook({
      type: 'checkout.session.expired',
      object: { id: sessionId, status: 'expired', payment_status: 'unpaid' },
    });
    await bed.database.query('INSERT INTO closed_checkouts VALUES (1001)');
    const erased = { projectId: 'testproject', projectNumber: 1001 };
    for (const _ of ['once', 'again']) await eraseProject(bed.database, erased);
    for (const [table, left] of [
      ['payments', [{ project_number: 1002 }]],
      ['test_sessions', [{ project_number: 1002 }]],
      ['secrets', []],
      ['closed_checkouts', []],
      ['heard_events', []],
    ] as const)
      expect(await bed.database.query(`SELECT project_number FROM ${table}`)).toEqual(left);
  });
});
