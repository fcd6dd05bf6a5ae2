import { randomUUID } from 'node:crypto';
import { type Payload, platformProject } from '@backlot/contract';
import { testProject, until } from '@backlot/testing';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import {
  createFakeMailer,
  createTestBed,
  type FakeMailer,
  type TestBed,
} from '../testing/test-bed.ts';

const invited: Payload<'member.invited'> = {
  projectId: testProject.id,
  projectNumber: testProject.number,
  projectName: 'Ada’s & Bob’s',
  ownerId: testProject.ownerId,
  ipHash: 'a'.repeat(64),
  to: 'ada@example.org',
  role: 'editor',
  invitedBy: 'olga@example.org',
  token: 'a-token_that-opens',
  expiresAt: '2026-11-22T05:00:00.000Z',
};

let mailer: FakeMailer;
let bed: TestBed;
beforeEach(async () => {
  mailer = createFakeMailer();
  bed = await createTestBed({ mailer, config: { publicUrl: 'https://api.example.org' } });
  await bed.service.start();
});
afterEach(() => bed.close());

const tell = (changes: Partial<Payload<'member.invited'>> = {}) =>
  bed.bus.publish({
    id: randomUUID(),
    topic: 'member.invited',
    payload: { ...invited, ...changes },
  });

it('names the project, who invites and as what, and leads to the console', async () => {
  await tell();
  await until(() => mailer.sent.length === 1);
  const [mail] = mailer.sent;
  expect(mail).toMatchObject({
    projectNumber: platformProject.number,
    from: { name: 'Backlot', address: 'no-reply@backlot.test' },
    to: ['ada@example.org'],
  });
  expect(mail?.subject).toBe('You are invited to work on Ada’s & Bob’s');
  expect(mail?.text).toContain('olga@example.org invites you');
  expect(mail?.text).toContain('as an editor');
  expect(mail?.text).toContain('https://api.example.org/console/invitation#a-token_that-opens');
  expect(mail?.html).toContain('Ada’s &amp; Bob’s');
});

it('names a project by its id where its name would not do in a mail', async () => {
  await tell({ projectName: '<b>Shop</b>\r\nBcc: all@example.org' });
  await until(() => mailer.sent.length === 1);
  expect(mailer.sent[0]?.subject).toBe('You are invited to work on Project testproject');
});

it('is sent to one address ten times an hour at most, whoever invites', async () => {
  for (let count = 0; count < 12; count++) {
    await tell({ ipHash: String(count).padStart(64, '0'), ownerId: randomUUID() });
  }
  await until(() => mailer.sent.length >= 10);
  await bed.service.deliver();
  expect(mailer.sent).toHaveLength(10);
});

it('of a project that is gone is not sent', async () => {
  bed.setProject({ status: 'deleted' });
  await tell();
  bed.setProject({ status: 'active' });
  await tell({ to: 'bob@example.org' });
  await until(() => mailer.sent.length === 1);
  expect(mailer.sent.map(({ to }) => to)).toEqual([['bob@example.org']]);
});
