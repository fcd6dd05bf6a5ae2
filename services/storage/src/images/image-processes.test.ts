import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants, getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '@backlot/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { encodePng } from '../testing/png.ts';
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
      width: side,
      height: side,
      channels: 3,
      background: 'black',
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
/** At its image, which takes 1,700 ms or more of the CPU: to read it has taken up to 50 on a busy machine. */
const worksOnImage = (pid: number, since: number) =>
  (readStat(pid)[userTicks] ?? Number.POSITIVE_INFINITY) > since + 50;
const allChildren = () =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && readStat(pid)[parent] === process.pid);

describe('processes that make images', () => {
  let processes: ImageProcesses;
  // What another test in this process has started may still run: its pool waits a second for an end.
  let earlier: ReadonlySet<number>;
  const children = () => allChildren().filter((pid) => !earlier.has(pid));
  const start = (options: Partial<ImageProcessesOptions> = {}) => {
    earlier = new Set(allChildren());
    processes = createImageProcesses({ processes: 1, maxPixels: 1e8, ...options });
  };
  /** On a busy machine a process of low priority may not make a small one either before its limit. */
  const makesOne = async () => {
    const source = await noise(50);
    await until(async () => 'bytes' in (await processes.transform(source, small)));
  };
  let folder = '';
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'backlot-files-'));
    writeFileSync(join(folder, 'large'), await noise(3000));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
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
    start({ limitMs: 1000 });
    expect(await processes.transform(await noise(3000), large)).toEqual({
      refused: 'it took too long, or ended its process',
      cpuMs: 1000,
    });
    await makesOne();
  });

  it('make the next images after one whose process ends at its limit', async () => {
    start({ limitMs: 3000, folder });
    await processes.transform(await noise(50), small);
    const [child = 0] = children();
    const before = readStat(child)[userTicks] ?? 0;
    const late = processes.transform('large', large);
    await until(() => worksOnImage(child, before));
    // On a busy machine its limit may have ended it by now.
    if (children().includes(child)) process.kill(child, 'SIGSTOP');
    expect(await late).toHaveProperty('refused');
    for (const pid of children()) process.kill(pid, 'SIGKILL');
    await makesOne();
  });

  it('read sources from the folder of the store, and nothing beside it', async () => {
    const source = await noise(50);
    for (const name of ['a1', 'A1']) writeFileSync(join(folder, name), source);
    start({ folder });
    const { transform } = processes;
    expect(await transform('a1', small)).toEqual({
      ...(await transform(source, small)),
      cpuMs: expect.any(Number),
    });
    expect(await transform('a2', small)).toHaveProperty('isMissing');
    mkdirSync(join(folder, 'a3'));
    await expect(transform('a3', small)).rejects.toHaveProperty('isUnavailable', true);
    for (const key of ['A1', '../a1', join(folder, 'a1')])
      await expect(transform(key, small)).rejects.toThrow('is not a valid blob key');
  });

  it('refuse an image that would take too much memory', async () => {
    start();
    // Interlaced, with 16 bits for each of four channels: 748 MiB.
    const source = encodePng({ width: 9900, height: 9900, head: [16, 6, 0, 0, 1] });
    if (process.platform === 'linux')
      expect(await processes.transform(source, small)).toMatchObject({
        refused: expect.stringContaining('out of memory'),
      });
    expect(await processes.transform(await noise(50), small)).toHaveProperty('bytes');
  });

  it('have ended when they close, those without work too', async () => {
    start({ idleMs: 1 });
    await processes.transform(await noise(50), small);
    await pause(10);
    await processes.close();
    expect(children()).toEqual([]);
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
    // With their low priority they may get little of a busy machine.
    start({ limitMs: 60_000, folder });
    const source = await noise(50);
    await processes.transform(source, small);
    const [child = 0] = children();
    const before = readStat(child)[userTicks] ?? 0;
    const ended = processes.transform('large', large);
    await until(() => worksOnImage(child, before));
    process.kill(child, 'SIGKILL');
    expect(await ended).toHaveProperty('refused');
    expect(await processes.transform(source, small)).toHaveProperty('bytes');
  });
});
