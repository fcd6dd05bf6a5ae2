import { randomUUID } from 'node:crypto';
import { asOwner, testProject, until } from '@backlot/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { messageSource } from '../mailer/message.ts';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';
import { type MailRow, toOutgoingMail } from './mail.ts';

describe('mails', () => {
  let bed: TestBed;
  beforeEach(async () => {
    bed = await createTestBed();
  });
  afterEach(() => bed.close());

  it('of an erased project go in short statements, however many they are', async () => {
    await bed.ownerDatabase.query(
      `CREATE FUNCTION refuse_many() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         IF (SELECT count(*) FROM gone) > 1000 THEN RAISE 'many'; END IF; RETURN NULL; END $$`,
    );
    await bed.ownerDatabase.query(
      `CREATE TRIGGER few AFTER DELETE ON mails REFERENCING OLD TABLE AS gone
         FOR EACH STATEMENT EXECUTE FUNCTION refuse_many()`,
    );
    await bed.database.query(
      `INSERT INTO mails (project_number, id, project_id, recipients, from_name, from_address, subject,
         html, next_attempt_at, created_at, status)
       SELECT $1, gen_random_uuid(), 'p', '{ada@example.org}', 'P', 'no-reply@example.org', 's', 'x', $2, $2, 'sent'
         FROM generate_series(1, 2500)`,
      [testProject.number, new Date(bed.clock.now())],
    );
    await bed.service.start();
    const payload = { projectId: testProject.id, projectNumber: testProject.number };
    await bed.bus.publish({ id: randomUUID(), topic: 'project.erased', payload });
    await until(async () => (await bed.database.query('SELECT FROM mails')).length === 0);
  });

  it.each([
    '=?UTF-8?B?QmFja2xvdA==?=',
    '=?utf-8?q?Backlot=0D=0ABcc:_eve?=',
    'Sale =?UTF-8?Q?Backlot?= =?UTF-8?B?QmFja2xvdA==?=',
    'Läden =?UTF-8?B?QmFja2xvdA==?=',
  ])('arrive with the words that somebody wrote, decoded into no others: %j', async (text) => {
    const project = { ...testProject, name: text };
    await bed.send(
      { to: 'ada@example.org', subject: text, html: 'x' },
      { identity: asOwner({ project }) },
    );
    const [row] = await bed.database.query<MailRow>('SELECT * FROM mails');
    if (!row) throw new Error('no mail');
    const source = await messageSource(toOutgoingMail(row, project));
    const head = source.slice(0, source.indexOf('\r\n\r\n')).replace(/\r\n\s+/g, ' ');
    const joined = head.replace(/\?= =\?UTF-8\?Q\?/g, '');
    const decoded = joined.replace(/=\?UTF-8\?Q\?([^?]*)\?=/g, (_word, encoded: string) =>
      decodeURIComponent(encoded.replaceAll('_', ' ').replaceAll('=', '%')),
    );
    // What is left of encoded words would be decoded by nobody.
    expect(decoded).not.toMatch(/=\?[^?\s]+\?[bq]\?/i);
    expect(decoded).toContain(`Subject: ${text.replace(/=\?(?=utf)/gi, '= ?')}`);
  });

  it('are forgotten after 30 days', async () => {
    await bed.send({ to: 'ada@example.org', subject: 'old', html: 'x' });
    bed.clock.pass(31 * 24 * 60 * 60_000);
    await bed.send({ to: 'ada@example.org', subject: 'young', html: 'x' });
    // A sweep leaves what a worker holds at that moment to the next one, an hour later.
    await bed.service.deliver();
    await bed.service.start();
    await until(async () => (await bed.list()).length === 1);
    expect(await bed.list()).toMatchObject([{ subject: 'young' }]);
  });
});
