import { randomUUID } from 'node:crypto';
import { cpuWork, toRequester } from '@backlot/fair-shares';
import { testProject, until } from '@backlot/testing';
import { describe, expect, it } from '@jest/globals';
import { fakeProvider, silence } from '../testing/fake-provider.ts';
import { createTestBed, reserved } from '../testing/test-bed.ts';
import { boundGenerations } from './bounded-generations.ts';

const hello = { messages: [{ role: 'user' as const, content: 'Hello' }] };

describe('places of calls', () => {
  it('are kept from nobody by accounts of one address, nor by addresses of one owner', async () => {
    // An owner has two, and an address one.
    const bed = await createTestBed({ maxCalls: 6 });
    let asked = 0;
    bed.useProvider(
      fakeProvider(({ signal }) => {
        asked++;
        return silence(signal);
      }),
    );
    const owners = {
      eve: randomUUID(),
      mallory: randomUUID(),
      carol: randomUUID(),
      ada: randomUUID(),
    };
    const caller = (owner: keyof typeof owners, ip: string) => ({
      identity: {
        ...reserved(10_000),
        project: { ...testProject, id: owner, ownerId: owners[owner] },
        ip,
      },
    });
    const gone = new AbortController();
    const held = [caller('eve', 'a'), caller('carol', 'b'), caller('carol', 'c')].map(
      (whose, index) =>
        bed
          .open({ ...hello, stream: index === 0 }, { ...whose, signal: gone.signal })
          .catch(() => 'gone'),
    );
    await until(() => asked === held.length);
    bed.useProvider(
      fakeProvider(async () => ({ text: 'x', promptTokens: 1, outputTokens: 1, isCut: false })),
    );
    const ask = (stream: boolean, whose: ReturnType<typeof caller>) =>
      bed.ask({ ...hello, stream }, whose);
    const refused = Promise.all([
      ask(false, caller('mallory', 'a')),
      ask(true, caller('carol', 'd')),
    ]);
    for (const stream of [false, true])
      expect((await ask(stream, caller('ada', 'e'))).status).toBe(200);
    for (const answer of await refused) {
      expect(answer).toMatchObject({ status: 503, body: { code: 'overloaded' } });
      expect(answer.headers.get('retry-after')).toBe('1');
    }
    gone.abort();
    expect(await Promise.all(held)).toEqual(['gone', 'gone', 'gone']);
    await until(async () => (await ask(false, caller('mallory', 'a'))).status === 200);
    await bed.close();
  });

  it.each(['generate', 'stream'] as const)(
    'are given up by who goes while they wait, at no cost (%s)',
    async (way) => {
      const places = cpuWork({ places: 1 });
      const usage: number[] = [];
      const generations = boundGenerations(
        {
          generate: () => Promise.reject(new Error('asked the model')),
          stream: () => {
            throw new Error('asked the model');
          },
        },
        { places, recordUsage: async (_identity, units) => void usage.push(units) },
      );
      const leave = await places.take(toRequester(reserved(10_000)));
      const caller = new AbortController();
      const call = { identity: reserved(10_000), body: hello, signal: caller.signal };
      const waiting =
        way === 'generate' ? generations.generate(call) : generations.stream(call).next();
      const ended = expect(waiting).rejects.toMatchObject({ code: 'overloaded' });
      await until(() => places.usage().slow.waiting === 1);
      caller.abort();
      await ended;
      await generations.idle();
      expect(usage).toEqual([0]);
      leave();
      expect(places.usage().slow).toMatchObject({ running: 0, waiting: 0 });
    },
  );
});

describe('a service that stops', () => {
  it('has stored what the calls have used that it cut off', async () => {
    const bed = await createTestBed();
    let asked = 0;
    bed.useProvider(
      fakeProvider(({ signal }) => {
        asked++;
        return silence(signal);
      }),
    );
    const open = [false, true].map((stream) =>
      bed.open({ ...hello, stream }).catch(() => 'cut off'),
    );
    await until(() => asked === 2);
    await bed.http.stop();
    await bed.service.stop();
    expect(await bed.takeUsage()).toHaveLength(2);
    expect(await Promise.all(open)).toEqual(['cut off', 'cut off']);
    await bed.close();
  });
});
