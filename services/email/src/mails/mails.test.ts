import { randomUUID } from 'node:crypto';
import { testProject, until } from '@backlot/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';

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
