import { readdirSync, readFileSync } from 'node:fs';
import { constants, getPriority } from 'node:os';
import { until } from '@backlot/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import {
  createImageProcesses,
  type ImageProcesses,
  type ImageProcessesOptions,
} from './image-processes.ts';
import type { Transformation } from './transform.ts';

const small: Transformation = { width: 10, fit: 'inside', format: 'png' };
const large: Transformation = { fit: 'inside', format: 'avif' };

const noise = (side: number) =>
  sharp({
    create: {
      ...{ width: side, height: side, channels: 3, background: 'black' },
      noise: { type: 'gaussian', mean: 128, sigma: 60 },
    },
  })
    .png({ compressionLevel: 0 })
    .toBuffer();

/** By proc_pid_stat(5): of what stands behind the program's name. */
const [parent, userTicks] = [1, 11];
const readStat = (pid: number): number[] => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
  } catch {
    return [];
  }
};
const children = () =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && readStat(pid)[parent] === process.pid);

describe('processes that make images', () => {
  let processes: ImageProcesses;
  const start = (options: Partial<ImageProcessesOptions> = {}) => {
    processes = createImageProcesses({ processes: 1, maxPixels: 1e8, ...options });
  };
  afterEach(() => processes.close());

  it('leave the CPU to calls, with each of their threads', async () => {
    start();
    const answer = await processes.transform(await noise(50), small);
    expect(answer).toMatchObject({ bytes: expect.any(Uint8Array), cpuMs: expect.any(Number) });
    if (process.platform !== 'linux') return;
    const [child] = children();
    const threads = readdirSync(`/proc/${child}/task`).map(Number);
    const { PRIORITY_BELOW_NORMAL } = constants.priority;
    expect(new Set(threads.map((thread) => getPriority(thread)))).toEqual(
      new Set([Math.max(getPriority(), PRIORITY_BELOW_NORMAL)]),
    );
  });

  it('are ended with an image that takes too long; the next ones are made', async () => {
    start({ limitMs: 50 });
    expect(await processes.transform(await noise(3000), large)).toEqual({
      refused: 'it took too long, or ended its process',
      cpuMs: 50,
    });
    expect(await processes.transform(await noise(50), small)).toHaveProperty('bytes');
  });

  it('end without work, and start again with the next image', async () => {
    start({ idleMs: 1 });
    const source = await noise(50);
    await processes.transform(source, small);
    await until(() => children().length === 0);
    expect(await processes.transform(source, small)).toHaveProperty('bytes');
  });

  it.each(['the next image is made', 'it closes'])(
    'end by something else while they wait: %s',
    async (what) => {
      start();
      const source = await noise(50);
      await processes.transform(source, small);
      for (const child of children()) process.kill(child, 'SIGKILL');
      await until(() => children().length === 0);
      if (what === 'it closes') return;
      expect(await processes.transform(source, small)).toHaveProperty('bytes');
    },
  );

  it('end alone where an image ends them; the next ones are made', async () => {
    start();
    const source = await noise(50);
    await processes.transform(source, small);
    const [child = 0] = children();
    const before = readStat(child)[userTicks] ?? 0;
    const ended = processes.transform(await noise(4000), large);
    await until(() => (readStat(child)[userTicks] ?? 0) > before + 10);
    process.kill(child, 'SIGKILL');
    expect(await ended).toHaveProperty('refused');
    expect(await processes.transform(source, small)).toHaveProperty('bytes');
  });
});
