import { testProject } from '@backlot/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createMailCalls, createMailingBed, requested } from '../testing/platform-mails.ts';
import type { FakeMailer, TestBed } from '../testing/test-bed.ts';

describe('account mails', () => {
  let mailer: FakeMailer;
  let bed: TestBed;
  beforeEach(async () => {
    ({ bed, mailer } = await createMailingBed());
    for (const id of ['p0', 'p1', 'p2', 'p3', 'other']) bed.others.add(id);
  });
  afterEach(() => bed.close());

  const { sent, tell } = createMailCalls(() => ({ bed, mailer }));

  const askMany = (count: number, changes: (n: number) => Partial<typeof requested>) =>
    Promise.all(
      Array.from({ length: count }, (_, n) =>
        tell('mail.requested', { ...requested, ...changes(n) }),
      ),
    );
  const people = (n: number) => ({ to: `p${n}@example.org` });

  it('go to one recipient ten times an hour, whatever the project, in parallel too', async () => {
    const elsewhere = (n: number) => ({ projectId: `p${n % 4}`, projectNumber: 2000 + (n % 4) });
    await askMany(15, (n) => ({ ...elsewhere(n), to: n % 2 ? 'Ada@example.org' : requested.to }));
    await sent(10);
    await tell('mail.requested', { ...requested, to: 'bob@example.org' });
    await sent(11);
    bed.clock.pass(60 * 60_000);
    await tell('mail.requested', requested);
    await sent(12);
  });

  it('never keep a new password or a code from a verified user', async () => {
    await askMany(12, () => ({}));
    await sent(10);
    bed.users.add(requested.to);
    await tell('mail.requested', { ...requested, template: 'reset-password' });
    await sent(11);
    await tell('mail.requested', { ...requested, template: 'sign-in-code', code: '123456' });
    await sent(12);
  });

  it('are sixty an hour for one network address; the owner sees that no more were sent', async () => {
    const ipHash = 'ab'.repeat(32);
    await askMany(63, (n) => ({ ...people(n), ipHash }));
    await sent(60);
    const refused = (await bed.list('?limit=100')).filter(({ status }) => status === 'failed');
    expect(refused).toHaveLength(3);
    expect(refused[0]).toMatchObject({
      html: '',
      error: 'Not sent: too many account mails were asked for.',
    });
    await tell('mail.requested', { ...requested, ipHash: 'cd'.repeat(32) });
    await sent(61);
  });

  it('are three hundred an hour for one owner, from however many addresses', async () => {
    await bed.database.query(
      `INSERT INTO window_counts SELECT sha256(convert_to($1, 'UTF8')), to_timestamp($2), 298`,
      [
        `3600000 account mails of owner ${testProject.ownerId}`,
        (Math.floor(bed.clock.now() / 3_600_000) + 1) * 3600,
      ],
    );
    await askMany(5, (n) => ({ ...people(n), ipHash: String(n).repeat(64) }));
    await sent(2);
    await tell('mail.requested', { ...requested, projectId: 'other', projectNumber: 2001 });
    await sent(3);
  });
});
