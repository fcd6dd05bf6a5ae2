import { expect, it } from '@jest/globals';
import { createInProcessBus } from './in-process.ts';
import { listenTo, subscribeTo } from './typed-events.ts';

const schemas = {
  named: {
    parse(payload: unknown) {
      const { name } = payload as { name: unknown };
      if (typeof name !== 'string') throw new Error('no name');
      return { name };
    },
  },
  other: { parse: (payload: unknown) => payload as { n: number } },
};

it('hands parsed payloads to handlers by topic; what does not parse is dead at once, and reaches none', async () => {
  const dead: string[] = [];
  let failures = 0;
  const bus = createInProcessBus({
    onDead: ({ id }) => void dead.push(id),
    onFailed: () => void failures++,
  });
  const handled: string[] = [];
  await subscribeTo(bus, schemas, 'queue', {
    named: async ({ name }, id) => handled.push(`${id} ${name}`),
  });
  await listenTo(bus, schemas, { other: ({ n }) => handled.push(String(n)) });
  await bus.publish({ id: '1', topic: 'named', payload: { name: 'x' } });
  await bus.publish({ id: '2', topic: 'named', payload: { name: 5 } });
  await bus.publish({ id: '3', topic: 'other', payload: { n: 7 } });
  await bus.close();
  expect(handled).toEqual(['1 x', '7']);
  expect([dead, failures]).toEqual([['2'], 0]);
});
