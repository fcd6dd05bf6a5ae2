import { randomUUID } from 'node:crypto';
import { testProject } from '@backlot/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  anyoneIn,
  createSendgridBed,
  createSendgridCalls,
  event,
} from '../testing/sendgrid-events.ts';
import { type FakeMailer, masterKey, type TestBed } from '../testing/test-bed.ts';
import { createSuppressions } from './suppressions.ts';

describe('events of SendGrid', () => {
  let mailer: FakeMailer;
  let bed: TestBed;
  beforeEach(async () => {
    ({ bed, mailer } = await createSendgridBed());
  });
  afterEach(() => bed.close());

  const { send, sendMany, tell } = createSendgridCalls(() => ({ bed, mailer }));
  const suppressed = () =>
    bed.database.query('SELECT address_hash, kind FROM suppressed_addresses');

  it('suppress an address in this project, and tell the owner', async () => {
    await send(['Bad@example.org', 'good@example.org']);
    await bed.service.deliver();
    const [mail] = mailer.sent.splice(0);
    if (!mail) throw new Error('nothing sent');
    const bounce = event(mail, { email: 'bad@example.org' });
    await tell([bounce, bounce, event(mail, { email: 'good@example.org', type: 'blocked' })]);
    await tell([bounce]);
    expect(await bed.list()).toMatchObject([{ error: 'Bounced from bad@example.org.' }]);
    expect(await bed.database.query('SELECT FROM reports')).toHaveLength(1);

    await send(['bad@example.org', 'good@example.org']);
    await send('BAD@example.org');
    const other = { ...testProject, id: 'other', number: 1002 };
    await send('bad@example.org', other);
    await bed.service.deliver();
    const sent = new Map(mailer.sent.map(({ projectId, to }) => [projectId, to]));
    expect(sent).toEqual(
      new Map([
        ['testproject', ['good@example.org']],
        ['other', ['bad@example.org']],
      ]),
    );
    expect(mailer.sent).toHaveLength(2);
    const reason = 'suppressed after a bounce or a complaint';
    expect((await bed.list('?limit=2')).map(({ status, error }) => [status, error])).toEqual([
      ['failed', `Every recipient is ${reason}.`],
      ['sent', `Not delivered to bad@example.org: ${reason}.`],
    ]);
  });

  it('suppress it in copies too; who is left in copy gets the mail', async () => {
    await send(['bad@example.org', 'good@example.org']);
    await bed.service.deliver();
    const [mail] = mailer.sent.splice(0);
    if (!mail) throw new Error('nothing sent');
    await tell([event(mail, { email: 'bad@example.org' })]);
    const body = { subject: 'x', html: 'x' };
    for (const addressed of [
      { to: 'good@example.org', cc: ['bad@example.org', 'other@example.org'] },
      { to: 'bad@example.org', cc: 'good@example.org' },
    ]) {
      await bed.send({ ...addressed, ...body }, { identity: anyoneIn() });
      await bed.service.deliver();
    }
    expect(mailer.sent.map(({ to, cc }) => ({ to, cc }))).toEqual([
      { to: ['good@example.org'], cc: ['other@example.org'] },
      { to: ['good@example.org'], cc: [] },
    ]);
    const copied = mailer.sent[0];
    if (!copied) throw new Error('nothing sent');
    await tell([event(copied, { email: 'other@example.org' })]);
    expect(await suppressed()).toHaveLength(2);
  });

  it('keep no address, and outlive the account that had it', async () => {
    await bed.service.start();
    const [mail] = await sendMany(1);
    if (!mail) throw new Error('nothing sent');
    await tell([event(mail)]);
    await bed.bus.publish({
      id: randomUUID(),
      topic: 'user.erased',
      payload: {
        projectId: testProject.id,
        projectNumber: testProject.number,
        userId: randomUUID(),
        email: 'p0@example.org',
        emailVerified: true,
      },
    });
    expect(await bed.list()).toEqual([]);
    const rows = await bed.database.query<{ row: string }>(
      'SELECT s::text AS row FROM suppressed_addresses s',
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]?.row).not.toContain('example');
    await send('P0@example.org');
    await bed.service.deliver();
    expect(mailer.sent).toEqual([]);
  });

  it('suppress an address under a new master key too, while the old one is kept', async () => {
    const [mail] = await sendMany(1);
    if (!mail) throw new Error('nothing sent');
    await tell([event(mail, { email: 'p0@example.org' })]);
    const mails = [{ projectNumber: testProject.number, to: ['p0@example.org', 'p1@example.org'] }];
    const newKey = Buffer.alloc(32, 6);
    const find = (keys: Buffer[]) => createSuppressions(bed.database, keys).find(mails);
    expect(await find([newKey, masterKey])).toEqual([['p0@example.org']]);
    expect(await find([newKey])).toEqual([[]]);
  });

  it('of an older version are kept as hashes from the next start on', async () => {
    await bed.database.query(
      `INSERT INTO suppressions SELECT $1, 'p' || n || '@example.org', 'bounce', now()
         FROM generate_series(0, 1200) n`,
      [testProject.number],
    );
    await bed.service.start();
    expect(await bed.database.query('SELECT FROM suppressions')).toEqual([]);
    expect(await suppressed()).toHaveLength(1201);
    await send(['p0@example.org', 'P1200@example.org', 'fine@example.org']);
    await bed.service.deliver();
    expect(mailer.sent.map(({ to }) => to)).toEqual([['fine@example.org']]);
  });
});
