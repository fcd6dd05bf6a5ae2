import { describe, expect, it } from '@jest/globals';
import { createScanSlots } from './scan-slots.ts';

describe('scan slots', () => {
  it('run three scans of a project at once, in turn, and refuse what would wait behind a hundred', async () => {
    const slots = createScanSlots();
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const scan = (n: number) =>
      slots.run(1, async () => {
        begun.push(n);
        await new Promise<void>((resolve) => ends.push(resolve));
        return n;
      });
    const scans = Array.from({ length: 103 }, (_, n) => scan(n));
    await expect(scan(103)).rejects.toMatchObject({ code: 'overloaded', retryAfterSeconds: 1 });
    expect(begun).toEqual([0, 1, 2]);
    await expect(slots.run(2, async () => 'another project')).resolves.toBe('another project');
    for (let ended = 0; ended < 103; ended++) {
      ends[ended]?.();
      await scans[ended];
    }
    expect(await Promise.all(scans)).toEqual(begun);
    expect(begun).toHaveLength(103);
  });

  it('free the slot of a scan that failed', async () => {
    const slots = createScanSlots();
    for (let n = 0; n < 10; n++) {
      await expect(slots.run(1, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    }
    await expect(slots.run(1, async () => 'fine')).resolves.toBe('fine');
  });
});
