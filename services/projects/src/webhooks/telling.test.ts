import { randomUUID } from 'node:crypto';
import type { AppEvent } from '@backlot/contract';
import { until } from '@backlot/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createReceiver, type Receiver, verify, verifyNow } from '../testing/receiver.ts';
import { createTestBed, dayMs, ownerA, ownerB, type TestBed } from '../testing/test-bed.ts';
import { restMs } from './worker.ts';

describe('webhooks', () => {
  let bed: TestBed;
  let receiver: Receiver;
  let projectId: string;
  let secret: string;
  beforeAll(async () => {
    bed = await createTestBed();
    await bed.service.start();
  });
  afterAll(() => bed.close());
  beforeEach(async () => {
    receiver = await createReceiver();
    projectId = await bed.project();
    secret = await set();
  });
  afterEach(() => receiver.close());

  const call = async (
    method: string,
    rest: string,
    body?: unknown,
    id = projectId,
    ownerId = ownerA,
  ) =>
    bed.call(method, `/platform/projects/${id}/webhooks${rest}`, {
      identity: await bed.owner(ownerId, id),
      body,
    });
  const set = async (body: object = {}, id = projectId, ownerId = ownerA) => {
    const wanted = { url: receiver.url, on: ['record.updated:orders', 'payment.paid'], ...body };
    const answer = await call('PUT', '/main', wanted, id, ownerId);
    return String(answer.body.secret);
  };

  const event = async (changes: Partial<AppEvent> = {}, id = projectId): Promise<AppEvent> => {
    const { project } = await bed.owner(ownerA, id);
    return {
      id: randomUUID(),
      projectNumber: project.number,
      type: 'payment.paid',
      orderKey: randomUUID(),
      data: { amount: 1999 },
      occurredAt: new Date(bed.now()).toISOString(),
      ...changes,
    };
  };
  const publish = (payload: AppEvent) =>
    bed.publish({ id: randomUUID(), topic: 'app.event', payload });
  const deliveries = async (rest = '') => {
    const { body } = await call('GET', `/main/deliveries${rest}`);
    return body.items as { id: string; status: string; tries: { status: number }[] }[];
  };
  const statuses = async () => (await deliveries()).map(({ status }) => status);
  const ids = () => receiver.received.map(({ id }) => id);
  const state = async () => (await call('GET', '/main')).body;

  it('tell each event once, signed, however often the bus repeats it', async () => {
    const paid = await event({ data: { name: 'Žofie ✓' } });
    await Promise.all([publish(paid), publish(paid), publish(paid)]);
    await publish(await event({ type: 'payment.failed' }));
    await until(async () => (await statuses()).includes('delivered'));
    await publish(paid);
    const last = await event();
    await publish(last);
    await until(() => ids().includes(last.id));
    expect(ids()).toEqual([paid.id, last.id]);
    const [first] = receiver.received;
    expect(first && verifyNow(secret, first)).toEqual({
      type: 'payment.paid',
      timestamp: paid.occurredAt,
      projectId,
      data: { name: 'Žofie ✓' },
    });
  });

  it('keep the order of each record, whatever came first and whatever has to be repeated', async () => {
    const kept = { type: 'record.updated', collection: 'orders' } as const;
    const changes = await Promise.all(
      [1, 2, 3, 4, 5].map((number) =>
        event({ ...kept, number, orderKey: `orders/${number === 4 ? 'b' : 'a'}` }),
      ),
    );
    const [first, second, third, other, fifth] = changes as [
      AppEvent,
      AppEvent,
      AppEvent,
      AppEvent,
      AppEvent,
    ];
    for (const one of [fifth, third, second]) await publish(one);
    await until(async () => (await deliveries()).length === 3);
    expect(ids()).toEqual([]);
    receiver.answer = (req, res) =>
      void res.writeHead(req.headers['webhook-id'] === first.id ? 503 : 204).end();
    await publish(other);
    await publish(first);
    await until(() => ids().includes(first.id) && ids().includes(other.id));
    expect(new Set(ids())).toEqual(new Set([first.id, other.id]));
    await until(async () => (await deliveries()).some(({ tries }) => tries[0]?.status === 503));
    receiver.answer = (_req, res) => void res.writeHead(200).end('thanks');
    bed.pass(10_000);
    await until(() => ids().includes(fifth.id));
    expect(ids().filter((id) => id !== other.id)).toEqual(
      [first, first, second, third, fifth].map(({ id }) => id),
    );
  });

  it('go on behind an event that never comes', async () => {
    const late = await event({ type: 'record.updated', collection: 'orders', number: 2 });
    await publish(late);
    await until(async () => (await deliveries()).length === 1);
    bed.pass(60 * 60_000);
    await bed.service.passGaps();
    await until(() => ids().includes(late.id));
  });

  it('are switched off after eight tries in a day; set again, they go on', async () => {
    receiver.answer = (_req, res) => void res.writeHead(500).end();
    const [refused, behind] = [await event({ orderKey: 'a' }), await event({ orderKey: 'a' })];
    behind.occurredAt = new Date(bed.now() + 1).toISOString();
    await publish(refused);
    await publish(behind);
    const startedAt = bed.now();
    for (let tries = 1; tries <= 8; tries++) {
      await until(async () =>
        (await deliveries()).some(
          ({ id, tries: made }) => id === refused.id && made.length === tries,
        ),
      );
      const [due] = await bed.database.query<{ at: Date | null }>(
        'SELECT next_try_at AS at FROM webhook_deliveries WHERE event_id = $1',
        [refused.id],
      );
      if (due?.at) bed.pass(due.at.getTime() - bed.now());
    }
    expect(bed.now() - startedAt).toBeLessThanOrEqual(dayMs);
    await until(async () => (await state()).state === 'off');
    expect(await state()).toMatchObject({ waiting: 1, offReason: expect.stringContaining('500') });
    const stopped = await until(() =>
      bed
        .published()
        .find(
          ({ topic, payload }) =>
            topic === 'webhook.stopped' &&
            (payload as { projectId: string }).projectId === projectId,
        ),
    );
    expect(stopped.payload).toMatchObject({ projectId, ownerId: ownerA, webhook: 'main' });
    expect(await call('POST', '/main/replay', { id: refused.id })).toMatchObject({ status: 409 });
    await publish(await event());
    receiver.answer = (_req, res) => void res.writeHead(204).end();
    expect((await call('PUT', '/main', { url: receiver.url, on: ['payment.paid'] })).body).toEqual(
      expect.not.objectContaining({ secret: expect.anything() }),
    );
    await until(async () => (await statuses()).sort().join(' ') === 'delivered failed');
    expect(ids()).toContain(behind.id);
    expect(await call('POST', '/main/replay', { id: refused.id })).toMatchObject({
      status: 200,
      body: { queued: 1 },
    });
    await until(async () => !(await statuses()).includes('failed'));
    await until(async () => (await state()).waiting === 0);
  });

  it('give up an event that is always refused, and go on: with what waits behind it too, in order', async () => {
    const refused = await event({ orderKey: 'a' });
    const later = (ms: number) => ({ occurredAt: new Date(bed.now() + ms).toISOString() });
    const [second, third] = [
      await event({ orderKey: 'a', ...later(1) }),
      await event({ orderKey: 'a', ...later(2) }),
    ];
    receiver.answer = (req, res) =>
      void res.writeHead(req.headers['webhook-id'] === refused.id ? 422 : 204).end();
    for (const one of [refused, second, third]) await publish(one);
    const triesOfRefused = async () =>
      (await deliveries()).find(({ id }) => id === refused.id)?.tries.length;
    await until(async () => (await triesOfRefused()) === 1);
    await publish(await event());
    await until(() => ids().length >= 2);
    for (let tries = 1; tries <= 8; tries++) {
      await until(async () => (await triesOfRefused()) === tries);
      const [due] = await bed.database.query<{ at: Date | null }>(
        'SELECT next_try_at AS at FROM webhook_deliveries WHERE event_id = $1',
        [refused.id],
      );
      if (due?.at) bed.pass(due.at.getTime() - bed.now());
    }
    await until(() => {
      bed.pass(200);
      return ids().includes(third.id);
    });
    expect(ids().slice(-2)).toEqual([second.id, third.id]);
    expect(await state()).toMatchObject({ state: 'on', parkedAt: expect.any(String) });
    expect((await deliveries('?status=failed')).map(({ id }) => id)).toEqual([refused.id]);
    receiver.answer = (_req, res) => void res.writeHead(204).end();
    expect(await call('POST', '/main/replay', { id: refused.id })).toMatchObject({ status: 200 });
    await until(async () => !(await statuses()).includes('failed'));
    expect(await state()).toMatchObject({ state: 'on', parkedAt: null });
  });

  it('name records and show them no more where a project keeps too many bytes; those with more than their part go off', async () => {
    const keep = (bytes: number) =>
      bed.database.query(
        'UPDATE webhooks SET kept_bytes = $2 FROM projects WHERE number = project_number AND id = $1',
        [projectId, bytes],
      );
    const changed = { type: 'record.updated', collection: 'orders' } as const;
    const data = { collection: 'orders', id: randomUUID(), record: { n: 1 } };
    const told = async (changes: Partial<AppEvent>) => {
      const one = await event(changes);
      await publish(one);
      const found = await until(() => receiver.received.find(({ id }) => id === one.id));
      return JSON.parse(found.body).data;
    };
    await keep(100 * 1024 * 1024);
    const { record: _, ...named } = data;
    expect(await told({ ...changed, number: 1, data })).toEqual(named);
    await keep(20 * 1024 * 1024);
    expect(await told({ ...changed, number: 2, data })).toEqual(data);
    await keep(5 * 1024 * 1024);
    await call('PUT', '/second', { url: receiver.url, on: ['payment.paid'] });
    await bed.database.query(
      `UPDATE webhooks SET kept_bytes = 130 * 1024 * 1024 FROM projects
        WHERE number = project_number AND id = $1 AND webhooks.name = 'second'`,
      [projectId],
    );
    await publish(await event());
    await until(async () => (await call('GET', '/second')).body.state === 'off');
    expect((await state()).state).toBe('on');
  });

  it('send again what was told since a time, under the same ids and in the same order', async () => {
    const old = await event();
    await publish(old);
    await until(async () => (await statuses()).includes('delivered'));
    bed.pass(1000);
    const since = new Date(bed.now()).toISOString();
    const events = [];
    for (let at = 0; at < 3; at++) {
      events.push(await event({ orderKey: 'a', occurredAt: new Date(bed.now()).toISOString() }));
      bed.pass(10);
    }
    for (const one of events) await publish(one);
    const all = async () => (await statuses()).every((status) => status === 'delivered');
    await until(async () => ids().length === 4 && (await all()));
    receiver.received.length = 0;
    const replays = await Promise.all([
      call('POST', '/main/replay', { since }),
      call('POST', '/main/replay', { since }),
    ]);
    expect(replays.map(({ status }) => status)).toEqual([200, 200]);
    await until(async () => ids().length >= 3 && (await all()));
    expect([...new Set(ids())]).toEqual(events.map(({ id }) => id));
    expect(await call('POST', '/main/replay', { id: randomUUID() })).toMatchObject({ status: 404 });
  });

  const isAtRest = async () => {
    const { number } = (await bed.owner(ownerA, projectId)).project;
    const [hook] = await bed.database.inProject(number, () =>
      bed.database.query<{ rests: boolean }>(
        `SELECT worker IS NULL AND due_at > $2 AS rests FROM webhooks WHERE project_number = $1 AND name = 'main'`,
        [number, new Date(bed.now())],
      ),
    );
    return hook?.rests === true;
  };

  it('that take nothing are let be for a while, however much waits for them', async () => {
    const since = new Date(bed.now()).toISOString();
    const events = await Promise.all(Array.from({ length: 12 }, () => event()));
    for (const one of events) await publish(one);
    await until(async () => (await statuses()).filter((one) => one === 'delivered').length === 12);
    receiver.received.length = 0;
    receiver.answer = (_req, res) => void res.writeHead(500).end();
    expect((await call('POST', '/main/replay', { since })).body).toEqual({ queued: 12 });
    for (const tries of [4, 8]) {
      await until(isAtRest);
      expect(ids()).toHaveLength(tries);
      bed.pass(restMs);
    }
  });

  it('are let be for a while where what came of a try can not be kept', async () => {
    await bed.ownerDatabase.query(
      `CREATE FUNCTION projects.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now'; END $$`,
    );
    await bed.ownerDatabase.query(
      'CREATE TRIGGER refuse BEFORE UPDATE ON projects.webhook_deliveries FOR EACH ROW EXECUTE FUNCTION projects.refuse()',
    );
    await publish(await event());
    await until(isAtRest);
    expect(ids()).toHaveLength(1);
    await bed.ownerDatabase.query('DROP FUNCTION projects.refuse CASCADE');
    bed.pass(restMs);
    await until(async () => (await statuses())[0] === 'delivered');
    expect(new Set(ids()).size).toBe(1);
  });

  it('are signed with the old secret too for a day after a new one', async () => {
    const renewed = String((await call('POST', '/main/secret')).body.secret);
    await publish(await event());
    const first = await until(() => receiver.received[0]);
    expect(verify(secret, first)).toEqual(verify(renewed, first));
    // One that nobody has noted yet is sent again.
    await until(async () => (await statuses())[0] === 'delivered');
    bed.pass(dayMs + 1);
    await publish(await event());
    const second = await until(() => receiver.received[1]);
    expect(String(second.headers['webhook-signature']).split(' ')).toHaveLength(1);
  });

  it('of a stranger are reached while receivers of others do not answer', async () => {
    receiver.answer = () => {};
    const hanging = await Promise.all(Array.from({ length: 12 }, () => bed.project(ownerB)));
    for (const id of hanging) {
      await set({}, id, ownerB);
      for (let sent = 0; sent < 4; sent++) await publish({ ...(await event({}, id)) });
    }
    await until(() => receiver.received.length >= 4);
    const quick = await createReceiver();
    await set({ url: quick.url });
    await publish(await event());
    await until(() => quick.received.length === 1);
    const [held] = await bed.database.query<{ leased: number }>(
      'SELECT count(*) AS leased FROM webhooks WHERE lease_ends_at IS NOT NULL',
    );
    expect(held?.leased).toBeGreaterThan(0);
    await quick.close();
  });

  it('are told by another process once the one that had them is gone', async () => {
    await bed.database.query(
      'UPDATE webhooks SET worker = $2, lease_ends_at = $3 FROM projects WHERE number = project_number AND id = $1',
      [projectId, randomUUID(), new Date(bed.now() + 40_000)],
    );
    const paid = await event();
    await publish(paid);
    await until(async () => (await deliveries()).length === 1);
    expect(ids()).toEqual([]);
    bed.pass(40_001);
    await until(() => ids().includes(paid.id));
  });

  it('are switched off where too many events wait, and lose none of these', async () => {
    receiver.answer = (_req, res) => void res.writeHead(500).end();
    const first = await event();
    await publish(first);
    await until(async () => (await deliveries())[0]?.tries.length === 1);
    await bed.database.query(
      'UPDATE webhooks SET waiting = 10000 FROM projects WHERE number = project_number AND id = $1',
      [projectId],
    );
    await publish(await event());
    await until(async () => (await state()).state === 'off');
    expect((await deliveries()).some(({ id }) => id === first.id)).toBe(true);
  });

  it('forget what they told of somebody whose account is erased, and of the guest who was merged with it', async () => {
    const [userId, guestId] = [randomUUID(), randomUUID()];
    const { projectNumber } = await event();
    await publish(await event({ userId: guestId, data: { email: 'gone@example.org' } }));
    await bed.publish({
      id: randomUUID(),
      topic: 'user.merged',
      payload: { projectId, projectNumber, guestId, userId },
    });
    await publish(await event());
    await until(() => receiver.received.length === 2);
    await bed.publish({
      id: randomUUID(),
      topic: 'user.erased',
      payload: { projectId, projectNumber, userId, email: 'gone@example.org' },
    });
    await until(async () => (await deliveries()).length === 1);
    const left = await bed.database.query('SELECT FROM webhook_deliveries WHERE body LIKE $1', [
      '%gone@example.org%',
    ]);
    expect(left).toEqual([]);
    await until(async () => (await state()).waiting === 0);
  });
});
