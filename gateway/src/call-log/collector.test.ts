import type { LoggedCall } from '@backlot/contract';
import { describe, expect, it } from '@jest/globals';
import { callLogBounds, createCollector } from './collector.ts';

const build = (name: string) => () => ({ path: name, at: new Date(0).toISOString() }) as LoggedCall;

/** At a time of its own, and with smaller bounds. */
const create = (bounds: Partial<typeof callLogBounds> = {}) => {
  const clock = { now: 0 };
  const collector = createCollector(() => clock.now, { ...callLogBounds, ...bounds });
  const note = (number: number, count = 1, owner = `owner ${number}`, isFailure = true) => {
    for (let n = 0; n < count; n++)
      collector.note({ number, ownerId: owner }, isFailure, build(`${number}/${n}`));
  };
  const countIn = (parts: ReturnType<typeof collector.takeBatch>) =>
    Object.fromEntries(parts.map(({ projectNumber, calls }) => [projectNumber, calls.length]));
  return { clock, collector, note, countIn };
};

describe('calls that wait for the log', () => {
  it('are so many of a project and an owner in a second, failures apart from successes', () => {
    const { clock, collector, note, countIn } = create({ batch: 5000 });
    note(1, 1000, 'one', false);
    note(1, 1000, 'one');
    for (let project = 2; project < 10; project++) note(project, 1000, 'many');
    expect(countIn(collector.takeBatch())).toMatchObject({ 1: 250, 2: 200, 3: 200, 4: 100 });
    clock.now = 1000;
    note(1);
    const [part] = collector.takeBatch();
    expect(part?.calls).toMatchObject([{ skipped: 800 }]);
  });

  it('takes calls of each project in turn', () => {
    const { collector, note, countIn } = create({ batch: 100 });
    note(1, 200);
    note(2, 200);
    note(3, 10);
    expect(countIn(collector.takeBatch())).toEqual({ 1: 45, 2: 45, 3: 10 });
    expect(collector.held()).toBe(310);
    const paths = collector.takeBatch().map(({ calls }) => calls[0]?.path);
    expect(paths).toEqual(['1/45', '2/45']);
  });

  it('gives a newcomer room while one project fills all', () => {
    const { clock, collector, note, countIn } = create({ held: 400, batch: 5000 });
    for (let second = 0; second < 60; second++) {
      clock.now = second * 1000;
      note(1, 200, 'greedy');
    }
    note(2, 3, 'newcomer');
    expect(collector.held()).toBeLessThanOrEqual(400);
    const parts = collector.takeBatch();
    expect(countIn(parts)[2]).toBe(3);
    const [greedy] = parts;
    expect((greedy?.calls.length ?? 0) + (greedy?.lost?.calls ?? 0)).toBe(60 * 200);
    expect(greedy?.calls.at(-1)?.path).toBe('1/199');
    expect(collector.takeBatch()).toEqual([]);
  });

  it('are bounded where thousands of projects have one each', () => {
    const { collector, note } = create({ held: 400 });
    for (let project = 2; project < 30_000; project++) note(project);
    expect(collector.held()).toBe(400);
    for (let n = 0; n < 100; n++) collector.takeBatch();
    expect(collector.takeBatch()).toEqual([]);
  });

  it('are told as lost, of when, where they are given up', () => {
    const { clock, collector, note } = create();
    note(1, 3);
    const parts = collector.takeBatch();
    clock.now = 5000;
    collector.giveUp(parts);
    expect(collector.takeBatch()).toEqual([
      {
        projectNumber: 1,
        calls: [],
        lost: {
          since: '1970-01-01T00:00:00.000Z',
          until: '1970-01-01T00:00:05.000Z',
          calls: 3,
        },
      },
    ]);
  });
});
