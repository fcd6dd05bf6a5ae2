import { randomUUID } from 'node:crypto';
import { createRabbitmqBus, type RabbitmqBus } from '@backlot/bus/rabbitmq';
import { operatorRoutes } from '@backlot/contract';
import { createRegistry } from '@backlot/telemetry';
import {
  asOperator,
  createTestBroker,
  refusesStrangers,
  type TestBroker,
  until,
} from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { uuidv7 } from 'uuidv7';
import { creditHistory, grant, usageEvent } from '../testing/ledger.ts';
import { createTestBed, platform, type TestBed } from '../testing/test-bed.ts';

const path = '/platform/parked-events';
const identity = asOperator({ project: platform });
const queue = 'projects.usage-recorded';

describe('parked events', () => {
  const registry = createRegistry('projects');
  let broker: TestBroker;
  let bus: RabbitmqBus;
  let bed: TestBed;
  let ownerId: string;
  beforeAll(async () => {
    broker = await createTestBroker();
    bus = await createRabbitmqBus({
      url: broker.url,
      onDead: () => undefined,
      onError: () => undefined,
      retryDelaysMs: [1],
    });
    await bus.ready(30_000);
    bed = await createTestBed({ bus, registry });
    await bed.service.start();
    ownerId = randomUUID();
    await grant(bed, ownerId, 10);
  });
  afterAll(async () => {
    await bed.service.stop();
    await bus.close();
    await bed.close();
    await broker.drop();
  });

  const call = (method: string, rest = '') => bed.call(method, path + rest, { identity });
  const list = async (query = '') => (await call('GET', query)).body.items;
  const parkedByMetric = async () => {
    const line = (await registry.metrics())
      .split('\n')
      .find((text) => text.startsWith(`backlot_events_parked{queue="${queue}"`));
    return line === undefined ? 0 : Number(line.split(' ').at(-1));
  };
  const bookings = async () =>
    (await creditHistory(bed, ownerId)).items.filter(({ kind }) => kind === 'debit').length;

  /** Nothing of this call can be booked until it is mended. */
  const poison = async () => {
    const usage = usageEvent(bed, ownerId);
    await bed.ownerDatabase.query(
      `CREATE OR REPLACE FUNCTION projects.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN IF NEW.call_id = '${usage.callId}' THEN RAISE 'not now'; END IF; RETURN NEW; END $$`,
    );
    await bed.ownerDatabase.query(
      'CREATE TRIGGER refuse BEFORE INSERT ON projects.transfers FOR EACH ROW EXECUTE FUNCTION projects.refuse()',
    );
    const event = { id: randomUUID(), topic: 'usage.recorded', payload: usage };
    await bus.publish(event);
    await until(async () => (await list()).length === 1);
    const [{ id }] = await list();
    return { id: String(id), event, usage };
  };
  const mend = () => bed.ownerDatabase.query('DROP TRIGGER refuse ON projects.transfers');

  for (const [route, rest] of [
    [operatorRoutes.listParkedEvents, ''],
    [operatorRoutes.getParkedEvent, `/ai/${randomUUID()}`],
    [operatorRoutes.replayParkedEvent, `/ai/${randomUUID()}/replay`],
    [operatorRoutes.dropParkedEvent, `/ai/${randomUUID()}`],
  ] as const)
    refusesStrangers(
      route,
      () => bed.http,
      () => ({ path: `/parked-events${rest}` }),
    );

  it('are counted and shown, and booked once when they are replayed, by two at the same instant', async () => {
    const { id, event, usage } = await poison();
    await until(async () => (await parkedByMetric()) === 1);
    expect(await call('GET', `/projects/${id}`)).toMatchObject({
      status: 200,
      body: {
        id,
        service: 'projects',
        queue,
        topic: 'usage.recorded',
        eventId: event.id,
        projectId: usage.projectId,
        error: expect.stringContaining('not now'),
        payload: { callId: usage.callId, millicredits: 1000 },
      },
    });
    const before = await bookings();

    expect(await call('POST', `/projects/${id}/replay`)).toMatchObject({ status: 200 });
    await until(async () => (await list()).some((item: { id: string }) => item.id !== id));
    const [again] = await list();
    await until(async () => (await parkedByMetric()) === 1);
    expect(await bookings()).toBe(before);

    await mend();
    const answers = await Promise.all(
      [1, 2, 3].map(() => call('POST', `/projects/${again.id}/replay`)),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.every((status) => [200, 404, 409].includes(status))).toBe(true);
    await until(async () => (await bookings()) === before + 1);
    expect(await list()).toEqual([]);
    await until(async () => (await parkedByMetric()) === 0);
    expect((await bed.service.reconcile()).differences).toEqual([]);
  });

  it('are booked once where who replayed them died after the queue had them', async () => {
    const { id, event } = await poison();
    const before = await bookings();
    await mend();
    // What is left of a kill between the two: the queue has it, and so has the table.
    await bed.database.query('UPDATE parked_events SET replayed_at = $1', [new Date(bed.now())]);
    await bus.redeliver(queue, event);
    await until(async () => (await bookings()) === before + 1);
    expect(await call('POST', `/projects/${id}/replay`)).toMatchObject({
      status: 409,
      body: { code: 'conflict', error: 'The event is being replayed already.' },
    });
    bed.pass(61_000);
    expect(await call('POST', `/projects/${id}/replay`)).toMatchObject({ status: 200 });
    await until(async () => (await bus.backlog()).every(({ waiting }) => waiting === 0));
    expect(await bookings()).toBe(before + 1);
    expect(await list()).toEqual([]);
  });

  it('are dropped for good', async () => {
    const { id } = await poison();
    const before = await bookings();
    expect(await call('DELETE', `/projects/${id}`)).toMatchObject({ status: 200 });
    await mend();
    for (const [method, rest] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/replay'],
    ] as const)
      for (const unknown of [id, randomUUID(), 'x'])
        expect(await call(method, `/projects/${unknown}${rest}`)).toMatchObject({
          status: 404,
          body: { code: 'not_found' },
        });
    expect([await list(), await bookings()]).toEqual([[], before]);
    await until(async () => (await parkedByMetric()) === 0);
  });

  it('are listed of all services, page by page, with the names of those that do not answer', async () => {
    const { aiOperations, emailOperations, authOperations } = bed.others;
    const ids = Array.from({ length: 5 }, () => uuidv7());
    for (const [n, id] of ids.entries())
      (n % 2 ? aiOperations : emailOperations).parked.push({
        id,
        queue: 'some.queue',
        topic: 'project.erased',
        eventId: id,
        projectId: null,
        error: 'Error: broken',
        parkedAt: new Date(n).toISOString(),
        payload: {},
      });
    authOperations.isDown = true;
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const { body } = await call('GET', `?limit=2${cursor ? `&cursor=${cursor}` : ''}`);
      expect(body.missing).toEqual(['auth']);
      seen.push(...body.items.map(({ id, service }: Record<string, string>) => `${service} ${id}`));
      cursor = body.nextCursor;
    } while (cursor);
    const expected = ids.map((id, n) => `${n % 2 ? 'ai' : 'email'} ${id}`);
    expect(seen).toEqual(expected.reverse());
    expect(await list('?service=ai')).toHaveLength(2);
    expect(await call('GET', `/auth/${ids[0]}`)).toMatchObject({
      status: 503,
      body: { code: 'unavailable', error: 'The service auth does not answer.' },
    });
    expect(await call('POST', `/ai/${ids[1]}/replay`)).toMatchObject({ status: 200 });
    expect(aiOperations.replayed).toEqual([ids[1]]);
    authOperations.isDown = false;
  });

  it.each(['?service=gateway', '?limit=-1', '?limit=x', '?cursor=x', '?servise=ai'])(
    'are not listed by %s',
    async (query) => expect(await call('GET', query)).toMatchObject({ status: 400 }),
  );
});
