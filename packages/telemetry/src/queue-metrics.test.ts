import { beforeEach, describe, expect, it } from '@jest/globals';
import { createRegistry, type LaneUsage, measureQueues, type Registry } from './index.ts';

const idle: LaneUsage = { slots: 2, running: 0, waiting: 0, refused: 0, costMs: 0, owners: [] };

describe('the metrics of queues', () => {
  let registry: Registry;
  let usage: { quick: LaneUsage; slow: LaneUsage };
  beforeEach(() => {
    registry = createRegistry('example');
    usage = { quick: { ...idle }, slow: { ...idle } };
    measureQueues(registry, {
      scans: { usage: () => usage },
      images: { usage: () => ({ quick: { ...idle, slots: 0 }, slow: idle }) },
    });
  });

  const read = async (name: string) => {
    const metric = await registry.getSingleMetric(name)?.get();
    return metric?.values.map(({ labels, value }) => [
      [labels.queue, labels.lane, labels.owner].filter(Boolean).join(' '),
      value,
    ]);
  };

  it('show every lane that has slots, as it is at the moment', async () => {
    usage.quick = { ...idle, running: 2, waiting: 7, refused: 3, costMs: 1500 };
    expect(await read('backlot_queue_slots')).toEqual([
      ['scans quick', 2],
      ['scans slow', 2],
      ['images slow', 2],
    ]);
    expect(await read('backlot_queue_running')).toContainEqual(['scans quick', 2]);
    expect(await read('backlot_queue_waiting')).toContainEqual(['scans quick', 7]);
    expect(await read('backlot_queue_refused_total')).toContainEqual(['scans quick', 3]);
    expect(await read('backlot_queue_cost_seconds_total')).toContainEqual(['scans quick', 1.5]);
    usage.quick = { ...idle, refused: 4, costMs: 2500 };
    expect(await read('backlot_queue_running')).toContainEqual(['scans quick', 0]);
    expect(await read('backlot_queue_refused_total')).toContainEqual(['scans quick', 4]);
    expect(await read('backlot_queue_cost_seconds_total')).toContainEqual(['scans quick', 2.5]);
  });

  it('name the five owners of a lane with the most expensive work, and nobody who has none', async () => {
    const owners = Array.from({ length: 300 }, (_, index) => ({
      owner: `owner-${index}`,
      costMs: 1000 - index,
    }));
    usage.slow = { ...idle, owners };
    expect(await read('backlot_queue_owner_cost_seconds')).toEqual([
      ['scans slow owner-0', 1],
      ['scans slow owner-1', 0.999],
      ['scans slow owner-2', 0.998],
      ['scans slow owner-3', 0.997],
      ['scans slow owner-4', 0.996],
    ]);
    usage.slow = { ...idle, owners: [{ owner: 'owner-9', costMs: 0 }] };
    expect(await read('backlot_queue_owner_cost_seconds')).toEqual([['scans slow owner-9', 0]]);
    usage.slow = idle;
    expect(await read('backlot_queue_owner_cost_seconds')).toEqual([]);
  });

  it('are nowhere without a registry', () => {
    expect(() => measureQueues(undefined, { scans: { usage: () => usage } })).not.toThrow();
  });
});
