import { randomUUID } from 'node:crypto';
import { asUser, testProject } from '@backlot/testing';
import { expect, it } from '@jest/globals';
import { createStreamPlaces } from './stream-places.ts';

const at = (ip: string, project = testProject) => ({ ...asUser(randomUUID(), { project }), ip });

const createPlaces = () => {
  const take = createStreamPlaces();
  const displaced: string[] = [];
  return {
    displaced,
    take: (ip: string, project?: typeof testProject) =>
      take(at(ip, project), () => displaced.push(ip)),
  };
};

it('a project that four addresses fill takes others in their places, until they have as many', () => {
  const { take, displaced } = createPlaces();
  const full = ['a', 'b', 'c', 'd'].flatMap((ip) => Array.from({ length: 250 }, () => take(ip)));
  expect(() => take('a')).toThrow('250 streams');
  take('e');
  expect(displaced).toHaveLength(1);
  for (let n = 1; n < 200; n++) take('e');
  const lost = ['a', 'b', 'c', 'd'].map((ip) => displaced.filter((one) => one === ip).length);
  expect(lost).toEqual([50, 50, 50, 50]);
  // Nobody takes turns.
  for (const ip of ['a', 'e']) expect(() => take(ip)).toThrow('1000 streams');
  for (const leave of full) leave();
  take('a');
  expect(displaced).toHaveLength(200);
});

it('an owner whose projects have as many as they may, and a process, make room in the fullest', () => {
  const { take, displaced } = createPlaces();
  const toProject = (owner: number, number: number) => ({
    ...testProject,
    ownerId: `owner ${owner}`,
    number: owner * 10 + number,
  });
  const fill = (owner: number, number: number) => {
    for (let n = 0; n < 1000; n++) take(`${owner}.${number}.${n % 10}`, toProject(owner, number));
  };
  for (const owner of [1, 2, 3, 4]) for (let n = 0; n < 5; n++) fill(owner, n);
  const other = { ...toProject(1, 9), ownerId: 'owner 5' };
  take('new', other);
  take('new', toProject(2, 8));
  expect(displaced.map((ip) => ip.split('.').length)).toEqual([3, 3]);
  expect(displaced[1]?.startsWith('2.')).toBe(true);
});
