import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database } from '@backlot/database';
import { cpuWork } from '@backlot/fair-shares';
import { expect, it } from '@jest/globals';
import type { Collections } from '../collections/collections.ts';
import { createShapes } from './shapes.ts';

it('as many projects have their collections listed at once as scans run', async () => {
  let underWay = 0;
  let most = 0;
  const list: Collections['list'] = async () => {
    underWay += 1;
    most = Math.max(most, underWay);
    await nextTurn();
    underWay -= 1;
    return [];
  };
  const shapes = createShapes({
    database: {} as Database,
    collections: { list } as unknown as Collections,
    scans: cpuWork({ places: 2 }),
  });
  const ask = (_: unknown, number: number) =>
    shapes.describe({
      project: { id: `p${number}`, number, ownerId: `owner ${number}` },
      ip: '192.0.2.1',
    });
  const described = await Promise.all(Array.from({ length: 20 }, ask));
  expect(described).toEqual(described.map(() => []));
  expect(most).toBe(2);
});
