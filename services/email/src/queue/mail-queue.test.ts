import { testProject, until } from '@backlot/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  createFakeMailer,
  createTestBed,
  type FakeMailer,
  type TestBed,
} from '../testing/test-bed.ts';

const [a, b, c] = [testProject.number, testProject.number + 1, testProject.number + 2];

describe('mails of several projects', () => {
  let mailer: FakeMailer;
  let bed: TestBed;
  beforeEach(async () => {
    mailer = createFakeMailer();
  });
  afterEach(() => bed.close());

  const open = async (concurrency: number) => {
    bed = await createTestBed({ mailer, config: { concurrency } });
  };
  /** So many mails of each project of a range, due after so many seconds. */
  const queue = (projects: [first: number, last: number], count: number, dueAfter = 0) =>
    bed.database.query(
      `INSERT INTO mails (project_number, id, project_id, recipients, from_name, from_address, subject,
         html, next_attempt_at, created_at)
       SELECT project, gen_random_uuid(), 'p', '{ada@example.org}', 'P', 'no-reply@example.org', 's', 'x',
         $4::timestamptz + $5 * interval '1 second', $4
         FROM generate_series($1::int, $2::int) AS project, generate_series(1, $3::int)`,
      [...projects, count, new Date(bed.clock.now()), dueAfter],
    );
  const senders = () => mailer.taken.map(({ projectNumber }) => projectNumber);

  it('do not wait for 2,000 of another project', async () => {
    await open(4);
    await queue([a, a], 2000);
    bed.clock.pass(60_000);
    await queue([b, b], 1);
    void bed.service.deliver();
    await until(() => senders().includes(b));
    expect(senders().indexOf(b)).toBeLessThan(12);
  });

  it('overtake a backlog that is on its way', async () => {
    await open(4);
    await queue([a, a], 2000);
    let before = Number.POSITIVE_INFINITY;
    mailer.answer = async () => {
      if (mailer.sent.length === 40) {
        await queue([b, b], 1);
        before = mailer.taken.length;
      }
      return { status: 'sent', refused: [] };
    };
    void bed.service.deliver();
    await until(() => senders().includes(b));
    expect(senders().indexOf(b) - before).toBeLessThan(12);
  });

  it('go in turn, and the rest of a backlog at once when the others have none', async () => {
    await open(1);
    await queue([a, a], 6);
    await queue([b, c], 2);
    await bed.service.deliver();
    expect(senders()).toEqual([a, b, c, a, b, c, a, a, a, a]);
  });

  it('share what may be under way', async () => {
    await open(6);
    await queue([a, a], 100);
    await queue([b, c], 3);
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    mailer.answer = async () => {
      await gate;
      return { status: 'sent', refused: [] };
    };
    const delivering = bed.service.deliver();
    await until(() => mailer.sent.length === 6);
    expect(senders().sort()).toEqual([a, a, b, b, c, c]);
    release();
    await delivering;
    expect(mailer.sent).toHaveLength(106);
  });

  it('are found behind those that another worker has just locked', async () => {
    await open(1);
    await queue([a, b], 1);
    const locked = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const other = bed.database.transaction(async () => {
      await bed.database.query('SELECT FROM mails WHERE project_number = $1 FOR UPDATE', [a]);
      locked.resolve();
      await release.promise;
    });
    await locked.promise;
    await bed.service.deliver();
    expect(senders()).toEqual([b]);
    release.resolve();
    await other;
    await bed.service.deliver();
    expect(senders()).toEqual([b, a]);
  });

  it('are found behind hundreds of projects whose mails are not due', async () => {
    await open(2);
    await queue([2000, 2349], 1, 600);
    await queue([3000, 3000], 3);
    await bed.service.deliver();
    expect(senders()).toEqual([3000, 3000, 3000]);
    bed.clock.pass(600_000);
    await bed.service.deliver();
    expect(new Set(senders()).size).toBe(351);
    expect(mailer.sent).toHaveLength(353);
  });
});
