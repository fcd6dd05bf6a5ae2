import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRabbitmqBus, type RabbitmqBus } from '@backlot/bus/rabbitmq';
import { type RunningRabbitmq, startRabbitmq, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createFakeMailer,
  createTestBed,
  type FakeMailer,
  type TestBed,
} from '../testing/test-bed.ts';

describe('mails over RabbitMQ', () => {
  let folder: string;
  let broker: RunningRabbitmq;
  let bus: RabbitmqBus;
  let mailer: FakeMailer;
  let bed: TestBed;
  /** Ids: an event may come more than once. */
  const booked = new Set<string>();
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'backlot-broker-'));
    broker = await startRabbitmq({ dataDir: join(folder, 'rabbitmq'), throwaway: true });
    // As every process has it: an event that no queue takes yet is published again.
    const mustReach = ['usage.recorded'];
    bus = await createRabbitmqBus({ url: broker.url, onDead() {}, onError() {}, mustReach });
    await bus.ready(60_000);
    mailer = createFakeMailer();
    bed = await createTestBed({ mailer, bus });
    bed.users.add('ada@example.org');
    await bus.subscribe({
      queue: 'ledger',
      topics: ['usage.recorded'],
      handler: async ({ id }) => void booked.add(id),
    });
    await bed.service.start();
  }, 300_000);
  afterAll(async () => {
    await bed?.close();
    await bus?.close();
    await broker?.stop();
    await rm(folder, { recursive: true });
  });

  const send = async (subject: string) => {
    const { status } = await bed.send({ to: 'ada@example.org', subject, html: 'x' });
    expect(status).toBe(200);
  };
  const subjects = () => mailer.sent.map(({ subject }) => subject);

  it('go out when their event arrives', async () => {
    await send('with the broker');
    await until(() => subjects().includes('with the broker'));
  });

  it('are accepted and go out while the broker is down, and are booked once it is back', async () => {
    await broker.kill('SIGTERM');
    for (let n = 0; n < 5; n++) await send(`without ${n}`);
    await until(() => mailer.sent.length === 6);
    await broker.restart();
    await until(() => booked.size === 6, { what: 'six mails in the books' });
    await bed.service.deliver();
    expect(mailer.sent).toHaveLength(6);
    await until(async () => (await bed.database.query('SELECT FROM outbox')).length === 0);
    expect(booked.size).toBe(6);
  });
});
