import type { ServiceOf } from '@backlot/service';
import { anonymous, testProject, until } from '@backlot/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createDevMailbox } from '../mailer/dev-mailbox.ts';
import { HandoverUnknown, type Mailer, MailRefused } from '../mailer/mailer.ts';
import type { emailService } from '../service.ts';
import {
  createFakeMailer,
  createTestBed,
  type FakeMailer,
  type TestBed,
} from '../testing/test-bed.ts';
import { maxAttempts, retryDelayMs } from './deliveries.ts';

const hour = 60 * 60_000;
const pastTheLease = 31_000;
const mayHaveArrived = 'It may have arrived, so it is not sent again.';

describe('delivery', () => {
  let mailer: FakeMailer;
  let bed: TestBed;
  const beds: TestBed[] = [];
  const killed: TestBed[] = [];
  const beside = async (other: Mailer, concurrency = 4) => {
    const created = await createTestBed({ mailer: other, beside: bed, config: { concurrency } });
    beds.push(created);
    return created;
  };
  beforeEach(async () => {
    mailer = createFakeMailer();
    bed = await createTestBed({ mailer, config: { concurrency: 4 } });
  });
  afterEach(async () => {
    for (const victim of killed.splice(0)) await victim.kill();
    for (const created of beds.splice(0)) await created.close();
    await bed.close();
  });

  const send = async (subject: string, to: string | string[] = 'ada@example.org') => {
    const identity = anonymous({
      project: { ...testProject, settings: { emailRecipients: 'anyone' } },
    });
    const { status } = await bed.send({ to, subject, html: 'x' }, { identity });
    expect(status).toBe(200);
  };
  const only = async () => {
    const [mail, ...more] = await bed.list();
    expect(more).toEqual([]);
    return mail;
  };

  it('hands each mail over once, oldest first', async () => {
    for (const subject of ['one', 'two', 'three']) {
      await send(subject);
      bed.clock.pass(1);
    }
    const oneByOne = await beside(mailer, 1);
    await oneByOne.service.deliver();
    await oneByOne.service.deliver();
    expect(mailer.sent.map(({ subject }) => subject)).toEqual(['one', 'two', 'three']);
    expect(mailer.sent[0]).toMatchObject({
      from: { name: 'Test project', address: 'no-reply@backlot.test' },
      to: ['ada@example.org'],
      projectId: 'testproject',
    });
    expect((await bed.list()).map(({ status }) => status)).toEqual(['sent', 'sent', 'sent']);
  });

  it('hands a hundred mails over once with three workers and every event doubled', async () => {
    await Promise.all(Array.from({ length: 100 }, (_, index) => send(`mail ${index}`)));
    const workers = [bed, await beside(mailer), await beside(mailer)];
    const events = await bed.database.query<{ payload: object }>('SELECT payload FROM outbox');
    await Promise.all(workers.map(({ service }) => service.start()));
    const again = events.map(({ payload }, index) =>
      bed.bus.publish({ id: String(index), topic: 'mail.queued', payload }),
    );
    await Promise.all([...again, ...workers.map(({ service }) => service.deliver())]);
    expect(new Set(mailer.sent.map(({ id }) => id)).size).toBe(100);
    expect(mailer.sent).toHaveLength(100);
  });

  it('keeps to as many mails at a time as it may', async () => {
    let inFlight = 0;
    let most = 0;
    mailer.answer = async () => {
      most = Math.max(most, ++inFlight);
      await new Promise(setImmediate);
      inFlight--;
      return { status: 'sent', refused: [] };
    };
    await Promise.all(Array.from({ length: 30 }, (_, index) => send(`mail ${index}`)));
    await bed.service.deliver();
    expect(mailer.sent).toHaveLength(30);
    expect(most).toBeLessThanOrEqual(4);
  });

  it('waits longer from attempt to attempt while the provider is down, then sends once', async () => {
    mailer.answer = async () => {
      throw new MailRefused('The mail server is out of reach.', { isTemporary: true });
    };
    await send('patience');
    await bed.service.deliver();
    expect(await only()).toMatchObject({
      status: 'queued',
      error: 'The mail server is out of reach.',
    });
    await bed.service.deliver();
    expect(mailer.sent).toHaveLength(1);
    const upAt = bed.clock.now() + 6 * hour;
    while (bed.clock.now() < upAt) {
      bed.clock.pass(60_000);
      await bed.service.deliver();
    }
    expect(mailer.sent.length).toBeGreaterThan(8);
    expect(mailer.sent.length).toBeLessThan(13);
    const before = mailer.sent.length;
    mailer.answer = async () => ({ status: 'sent', refused: [] });
    bed.clock.pass(5 * hour);
    await bed.service.deliver();
    await bed.service.deliver();
    expect(mailer.sent).toHaveLength(before + 1);
    expect(await only()).not.toHaveProperty('error');
  });

  it('gives up after a day, and says why', async () => {
    mailer.answer = async () => {
      throw new MailRefused('The mail server is out of reach.', { isTemporary: true });
    };
    await send('in vain');
    const start = bed.clock.now();
    while ((await only())?.status === 'queued') {
      await bed.service.deliver();
      bed.clock.pass(hour / 2);
    }
    expect(mailer.sent).toHaveLength(maxAttempts);
    expect(bed.clock.now() - start).toBeGreaterThan(20 * hour);
    expect(bed.clock.now() - start).toBeLessThan(36 * hour);
    expect(await only()).toMatchObject({
      status: 'failed',
      error: `The mail server is out of reach. Given up after ${maxAttempts} attempts.`,
    });
    await bed.service.deliver();
    expect(mailer.sent).toHaveLength(maxAttempts);
  });

  it('spreads attempts by up to a fifth', () => {
    expect([0, 0.5, 1].map((random) => retryDelayMs(1, random))).toEqual([24_000, 30_000, 36_000]);
    expect(retryDelayMs(maxAttempts, 0.5)).toBe(4 * hour);
  });

  it.each([
    [
      'refused for good',
      new MailRefused('No such user (550).', { isTemporary: false }),
      'No such user (550).',
    ],
    ['unconfirmed', new HandoverUnknown('Not confirmed.'), `Not confirmed. ${mayHaveArrived}`],
    ['broken off', new Error('bug'), `The delivery broke off. ${mayHaveArrived}`],
  ])('fails at once where it was %s', async (_what, error, reason) => {
    mailer.answer = async () => {
      throw error;
    };
    await send('once');
    await bed.service.deliver();
    bed.clock.pass(48 * hour);
    await bed.service.deliver();
    expect(mailer.sent).toHaveLength(1);
    expect(await only()).toMatchObject({ status: 'failed', error: reason });
  });

  it('is sent where some recipients were refused, and names them', async () => {
    mailer.answer = async ({ to }) => ({
      status: 'sent',
      refused: to.slice(0, 3).map((address) => ({ address, reason: 'refused (550)' })),
    });
    await send(
      'ten',
      Array.from({ length: 10 }, (_, index) => `p${index}@example.org`),
    );
    await bed.service.deliver();
    expect(await only()).toMatchObject({
      status: 'sent',
      error:
        'Not delivered to p0@example.org: refused (550); p1@example.org: refused (550); p2@example.org: refused (550).',
    });
  });

  /** A worker that is killed with a mail in its hands. */
  const killedAt = async (point: 'before' | 'after', kind: Mailer) => {
    let reached = false;
    const dying: Mailer = {
      ...kind,
      async send(mail, handOver) {
        if (point === 'after') await handOver();
        if (point === 'after') await kind.send(mail, async () => {});
        reached = true;
        return new Promise(() => {});
      },
    };
    // One at a time: it takes no further mail while it has this one.
    const victim = await createTestBed({
      mailer: dying,
      beside: bed,
      config: { concurrency: 1 },
    });
    killed.push(victim);
    void victim.service.deliver();
    await until(() => reached);
  };

  it('is not sent again where its worker died after it was handed over', async () => {
    await send('once');
    await killedAt('after', mailer);
    await bed.service.deliver();
    expect(await only()).toMatchObject({ status: 'queued' });
    bed.clock.pass(pastTheLease);
    await bed.service.deliver();
    await bed.service.deliver();
    expect(mailer.sent).toHaveLength(1);
    expect(await only()).toMatchObject({
      status: 'failed',
      error: expect.stringContaining(mayHaveArrived),
    });
  });

  it('is sent by another where its worker died before it was handed over', async () => {
    await send('once');
    await killedAt('before', mailer);
    bed.clock.pass(pastTheLease);
    await bed.service.deliver();
    expect(mailer.sent).toHaveLength(1);
    expect(await only()).toMatchObject({ status: 'sent' });
  });

  it('is in the dev mailbox once, wherever the worker died', async () => {
    for (const point of ['before', 'after'] as const) {
      const local = await beside(createDevMailbox());
      await send(point);
      await killedAt(point, createDevMailbox());
      bed.clock.pass(pastTheLease);
      await local.service.deliver();
      expect(await bed.list('?limit=1')).toMatchObject([{ subject: point, status: 'captured' }]);
    }
    expect(await bed.list()).toHaveLength(2);
  });

  it('does not leave the hands of a worker whose time is over', async () => {
    await send('once');
    let isTaken = false;
    let goOn = () => {};
    const slow: Mailer = {
      ...mailer,
      async send(mail, handOver) {
        isTaken = true;
        await new Promise<void>((resolve) => {
          goOn = resolve;
        });
        return mailer.send(mail, handOver);
      },
    };
    const late = await beside(slow, 1);
    const delivering = late.service.deliver();
    await until(() => isTaken);
    bed.clock.pass(pastTheLease);
    await bed.service.deliver();
    expect(mailer.sent).toHaveLength(1);
    goOn();
    await delivering;
    expect(mailer.sent).toHaveLength(1);
    expect(await only()).toMatchObject({ status: 'sent' });
  });

  /** A worker that gets no answer about a mail it has handed over, until it is told. */
  const waiting = async (begin: (service: ServiceOf<typeof emailService>) => unknown) => {
    let isHandedOver = false;
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const patient: Mailer = {
      ...mailer,
      async send(mail, handOver) {
        const delivery = await mailer.send(mail, handOver);
        isHandedOver = true;
        await answered;
        return delivery;
      },
    };
    const { service } = await beside(patient, 1);
    void begin(service);
    await until(() => isHandedOver);
    return { service, answer };
  };

  it('stays with its worker however long the provider takes', async () => {
    await send('slow');
    const { answer } = await waiting((service) => service.start());
    const leaseEnd = async () => {
      const [row] = await bed.database.query<{ at: Date }>('SELECT lease_until AS at FROM mails');
      return row?.at.getTime() ?? 0;
    };
    for (let round = 0; round < 3; round++) {
      bed.clock.pass(20_000);
      await until(async () => (await leaseEnd()) === bed.clock.now() + 30_000);
      await bed.service.deliver();
    }
    answer();
    await until(async () => (await only())?.status === 'sent');
    expect(mailer.sent).toHaveLength(1);
  });

  it('is known to have gone where its worker hears of it after it was given up', async () => {
    await send('late');
    const { service, answer } = await waiting((worker) => worker.deliver());
    bed.clock.pass(pastTheLease);
    await bed.service.deliver();
    expect(await only()).toMatchObject({ status: 'failed' });
    answer();
    await service.stop();
    expect(mailer.sent).toHaveLength(1);
    expect(await only()).toMatchObject({ status: 'sent' });
    expect(await only()).not.toHaveProperty('error');
  });

  it('ends after as many attempts where every worker dies of it', async () => {
    await send('poison');
    await bed.database.query('UPDATE mails SET attempts = $1', [maxAttempts - 1]);
    await killedAt('before', mailer);
    bed.clock.pass(pastTheLease);
    await bed.service.deliver();
    expect(mailer.sent).toEqual([]);
    expect(await only()).toMatchObject({
      status: 'failed',
      error: 'The delivery was interrupted.',
    });
  });
});
