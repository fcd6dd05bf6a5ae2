import { createTestDatabase, type TestDatabase, until } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  createDatabase,
  createOutbox,
  type Database,
  type OutboxEvent,
  outboxTable,
} from './index.ts';

let server: TestDatabase;
let database: Database;

beforeAll(async () => {
  server = await createTestDatabase();
  database = createDatabase({ url: server.url, schema: 'public', poolSize: 8 });
  await database.query(outboxTable);
});
beforeEach(() => database.query('TRUNCATE outbox'));
afterAll(async () => {
  await database.close();
  await server.drop();
});

interface Events {
  topic: { n: number | string };
}

describe('outbox', () => {
  it('takes only known topics with their payloads', async () => {
    const outbox = createOutbox<Events>(
      database,
      () => {},
      (topic, payload) => {
        if (topic !== 'topic' || typeof payload !== 'object') throw new Error('no such event');
      },
    );
    // @ts-expect-error no such topic
    await expect(outbox.append('tpoic', { n: 1 })).rejects.toThrow('no such event');
    // @ts-expect-error no such payload
    await expect(outbox.append('topic', 1)).rejects.toThrow('no such event');
    expect(await database.query('SELECT id FROM outbox')).toEqual([]);
  });

  it('publishes an event with the call that it comes from', async () => {
    let origin: object | undefined = { requestId: 'r1' };
    const outbox = createOutbox<Events>(
      database,
      () => {},
      undefined,
      () => origin,
    );
    await outbox.append('topic', { n: 1 });
    origin = undefined;
    await outbox.append('topic', { n: 2 });
    const published: OutboxEvent[] = [];
    outbox.start(async (event) => void published.push(event));
    await until(() => published.length === 2);
    await outbox.stop();
    expect(published.map(({ origin: from }) => from)).toEqual([{ requestId: 'r1' }, undefined]);
  });

  it('publishes committed events, keeps those whose publishing fails, and drops none', async () => {
    const outbox = createOutbox<Events>(database, () => {});
    const published: OutboxEvent[] = [];
    let refusals = 2;
    for (let n = 0; n < 5; n++) await database.transaction(() => outbox.append('topic', { n }));
    await database
      .transaction(async () => {
        await outbox.append('topic', { n: 'rolled back' });
        throw new Error('no');
      })
      .catch(() => {});
    outbox.start(async (event) => {
      if ((event.payload as { n: number }).n === 3 && refusals-- > 0)
        throw new Error('broker down');
      published.push(event);
    });
    await until(() => published.length === 5);
    expect(published.map((event) => (event.payload as { n: number }).n)).toEqual([0, 1, 2, 4, 3]);
    expect(new Set(published.map((event) => event.id)).size).toBe(5);
    await outbox.stop();
    expect(await database.query('SELECT id FROM outbox')).toEqual([]);
  });

  it('publishes an event once it is committed, and not only when it looks again', async () => {
    const outbox = createOutbox<Events>(database, () => {});
    const published: OutboxEvent[] = [];
    // No pause between two looks ends by itself.
    jest.useFakeTimers({ doNotFake: ['Date', 'nextTick', 'performance', 'setImmediate'] });
    try {
      outbox.start(async (event) => void published.push(event));
      for (const n of [1, 2, 3]) {
        await database.transaction(() => outbox.append('topic', { n }));
        await until(() => published.length === n);
      }
      await outbox.stop();
    } finally {
      jest.useRealTimers();
    }
  });

  it('has each event published by one of several relays', async () => {
    const relays = [1, 2, 3].map(() => createOutbox<Events>(database, () => {}));
    const published: string[] = [];
    for (let n = 0; n < 250; n++) await relays[0]?.append('topic', { n });
    for (const relay of relays) relay.start(async (event) => void published.push(event.id));
    await until(async () => (await database.query('SELECT 1 FROM outbox LIMIT 1')).length === 0);
    await Promise.all(relays.map((relay) => relay.stop()));
    expect(published).toHaveLength(250);
    expect(new Set(published).size).toBe(250);
  });
});
