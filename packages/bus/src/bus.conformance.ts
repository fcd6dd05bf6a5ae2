import { randomUUID } from 'node:crypto';
import { until } from '@backlot/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Bus, type BusEvent, type DeadEvent, EventInvalid, maxDeliveries } from './bus.ts';

export interface BusUnderTest {
  bus: Bus;
  /** Events given up so far, with the queue that gave them up. */
  dead: () => { id: string; queue: string }[];
  /** Ids of events whose first failure was told. */
  failed: () => string[];
  close(): Promise<void>;
}

const event = (topic: string, payload: unknown = {}): BusEvent => ({
  id: randomUUID(),
  topic,
  payload,
});

/** What every bus guarantees. */
export const busConformance = (name: string, create: () => Promise<BusUnderTest>): void => {
  describe(`bus: ${name}`, () => {
    let subject: BusUnderTest;
    beforeEach(async () => {
      subject = await create();
    });
    afterEach(() => subject.close());

    it('delivers with an event the call that it comes from, after a failure as well', async () => {
      const got: (object | undefined)[] = [];
      await subject.bus.subscribe({
        queue: 'one',
        topics: ['a'],
        handler: async ({ origin }) => {
          got.push(origin);
          if (got.length === 1) throw new Error('at first');
        },
      });
      const origin = { requestId: 'r1', traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` };
      await subject.bus.publish({ ...event('a'), origin });
      await until(() => got.length === 2);
      expect(got).toEqual([origin, origin]);
    });

    it('delivers an event with its id and payload to every queue of its topic and to no other', async () => {
      const got: string[] = [];
      for (const queue of ['one', 'two']) {
        await subject.bus.subscribe({
          queue,
          topics: ['a'],
          handler: async (e) => void got.push(`${queue} ${e.id} ${JSON.stringify(e.payload)}`),
        });
      }
      await subject.bus.subscribe({
        queue: 'three',
        topics: ['b'],
        handler: async () => void got.push('three'),
      });
      const sent = event('a', { n: 1, text: 'ü' });
      await subject.bus.publish(sent);
      await until(() => got.length >= 2);
      expect(got.sort()).toEqual([
        `one ${sent.id} {"n":1,"text":"ü"}`,
        `two ${sent.id} {"n":1,"text":"ü"}`,
      ]);
    });

    it('shares the events of a queue among its subscribers, each event to one', async () => {
      const got: string[] = [];
      for (let member = 0; member < 3; member++) {
        await subject.bus.subscribe({
          queue: 'shared',
          topics: ['a'],
          handler: async (e) => void got.push(e.id),
        });
      }
      const sent = Array.from({ length: 30 }, () => event('a'));
      await Promise.all(sent.map((event) => subject.bus.publish(event)));
      await until(() => got.length >= 30);
      expect(got.sort()).toEqual(sent.map(({ id }) => id).sort());
    });

    it('delivers again after a failure', async () => {
      let tries = 0;
      await subject.bus.subscribe({
        queue: 'flaky',
        topics: ['a'],
        handler: async () => {
          tries++;
          if (tries < 3) throw new Error('not yet');
        },
      });
      await subject.bus.publish(event('a'));
      await until(() => tries === 3);
      expect(subject.dead()).toEqual([]);
      expect(subject.failed()).toHaveLength(1);
    });

    it(`gives an event up after ${maxDeliveries} deliveries and goes on with the next`, async () => {
      let poisoned = 0;
      const good: string[] = [];
      const poison = event('a', { poison: true });
      const next = event('a');
      await subject.bus.subscribe({
        queue: 'poisoned',
        topics: ['a'],
        handler: async (e) => {
          if (e.id === poison.id) {
            poisoned++;
            throw new Error('never');
          }
          good.push(e.id);
        },
      });
      await Promise.all([subject.bus.publish(poison), subject.bus.publish(next)]);
      await until(() => good.length === 1 && subject.dead().length === 1);
      expect(poisoned).toBe(maxDeliveries);
      expect(subject.dead()).toEqual([{ id: poison.id, queue: 'poisoned' }]);
    });

    it('gives an event up at once that no delivery can succeed for', async () => {
      let deliveries = 0;
      await subject.bus.subscribe({
        queue: 'invalid',
        topics: ['a'],
        handler: async () => {
          deliveries++;
          throw new EventInvalid('no such payload');
        },
      });
      const sent = event('a');
      await subject.bus.publish(sent);
      await until(() => subject.dead().length === 1);
      expect([deliveries, subject.failed(), subject.dead()]).toEqual([
        1,
        [],
        [{ id: sent.id, queue: 'invalid' }],
      ]);
    });

    it('leaves what is dead to who keeps it, and has it delivered once more on request, to that queue alone', async () => {
      const kept: DeadEvent[] = [];
      const got: string[] = [];
      let isMended = false;
      await subject.bus.subscribe({
        queue: 'broken',
        topics: ['a'],
        async handler(e) {
          got.push(e.id);
          if (!isMended) throw new Error('broken');
        },
        keepDead: async (dead) => void kept.push(dead),
      });
      await subject.bus.subscribe({ queue: 'whole', topics: ['a'], handler: async () => {} });
      const poison = event('a', { text: 'ü' });
      await subject.bus.publish(poison);
      await until(() => kept.length === 1);
      expect(kept[0]).toMatchObject({ event: poison, error: 'Error: broken' });
      expect(JSON.parse(String(kept[0]?.content))).toEqual(poison.payload);
      expect(got).toHaveLength(maxDeliveries);

      await subject.bus.redeliver('broken', poison);
      await until(() => kept.length === 2);
      expect(got).toHaveLength(maxDeliveries + 1);

      isMended = true;
      await subject.bus.redeliver('broken', poison);
      await until(() => got.length === maxDeliveries + 2);
      expect(new Set(got)).toEqual(new Set([poison.id]));
      expect(kept).toHaveLength(2);
      expect(await subject.bus.takeDead('broken', 10, async () => {})).toBe(0);
    });

    it('reaches every listener, and a failing queue does not keep it from them', async () => {
      const heard: string[] = [];
      await subject.bus.listen(['a'], (e) => void heard.push(`x ${e.id}`));
      await subject.bus.listen(['a', 'b'], (e) => void heard.push(`y ${e.id}`));
      await subject.bus.subscribe({
        queue: 'broken',
        topics: ['a'],
        handler: () => Promise.reject(new Error('no')),
      });
      const sent = event('a');
      await subject.bus.publish(sent);
      await until(() => heard.length === 2);
      expect(heard.sort()).toEqual([`x ${sent.id}`, `y ${sent.id}`]);
    });

    it('refuses to publish once it is closed', async () => {
      await subject.bus.close();
      await expect(subject.bus.publish(event('a'))).rejects.toThrow('closed');
    });
  });
};
