import { randomUUID } from 'node:crypto';
import type { Payload, Topic } from '@backlot/contract';
import { testProject, until } from '@backlot/testing';
import { expect } from '@jest/globals';
import { createFakeMailer, createTestBed, type FakeMailer, type TestBed } from './test-bed.ts';

export const token = 'a-token_that-opens';
export const requested: Payload<'mail.requested'> = {
  projectId: testProject.id,
  projectNumber: testProject.number,
  projectName: '<b>Ada’s & Bob’s</b>',
  to: 'ada@example.org',
  name: '"><script>alert(1)</script>',
  template: 'verify-email',
  token,
  expiresAt: '2026-11-22T05:00:00.000Z',
};

/** A service that has started, and what it sends. */
export const createMailingBed = async (): Promise<{ bed: TestBed; mailer: FakeMailer }> => {
  const mailer = createFakeMailer();
  const bed = await createTestBed({ mailer, config: { publicUrl: 'https://api.example.org' } });
  await bed.service.start();
  return { bed, mailer };
};

export const createMailCalls = (of: () => { bed: TestBed; mailer: FakeMailer }) => ({
  tell: <T extends Topic>(topic: T, payload: Payload<T>, id: string = randomUUID()) =>
    of().bed.bus.publish({ id, topic, payload }),

  /** The last of so many mails, once they are sent. */
  async sent(count = 1) {
    const { bed, mailer } = of();
    await until(() => mailer.sent.length >= count);
    await bed.service.deliver();
    expect(mailer.sent).toHaveLength(count);
    const last = mailer.sent.at(-1);
    if (!last) throw new Error('nothing was sent');
    return last;
  },
});
