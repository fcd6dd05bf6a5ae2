import { setTimeout as pause } from 'node:timers/promises';
import { cpuSeconds, median } from '../load/load.ts';
import type { Account } from './account.ts';
import { type Growth, growthDuring, type Watched } from './growth.ts';

/** What takes the same file to the same place without the platform. */
export interface Rival {
  name: string;
  /** The process that does it. */
  pid: number;
  /** Answers how many seconds it took. */
  send(path: string): Promise<number>;
  /** The lowest good ratio of rates; none where it is only shown. */
  bound?: number;
}

export interface SizedFile {
  path: string;
  mib: number;
}

export interface UploadSubject {
  store: string;
  account: Account;
  watched: readonly Watched[];
  rivals: readonly Rival[];
  large: SizedFile;
  small: SizedFile;
}

const rounds = 3;
const atOnce = 32;
const growthBoundMib = 60;
/** So that the disk and S3 are done with the round before. */
const settleMs = 500;

const uploadAndRemove = async (account: Account, { path }: SizedFile) => {
  const { id, seconds } = await account.upload(path);
  await account.remove(id);
  return seconds;
};

const describeGrowth = ({ name, mib, cpuSeconds: cpu }: Growth) =>
  `${name} ${cpu.toFixed(1)} s CPU, memory ${mib < 0 ? '' : '+'}${mib.toFixed(0)} MiB`;

/** Of several rounds: the usual time, the most memory. */
const textOfAll = (rounds: readonly (readonly Growth[])[], watched: readonly Watched[]) => {
  const growths = watched.map(({ name }) => {
    const own = rounds.flat().filter((growth) => growth.name === name);
    const mib = Math.max(...own.map((growth) => growth.mib));
    return describeGrowth({
      name,
      mib,
      cpuSeconds: median(own.map((growth) => growth.cpuSeconds)),
    });
  });
  return `${growths.join('; ')} (bound: ${growthBoundMib} MiB each)`;
};

const measureRival = async ({ pid, send }: Rival, { path }: SizedFile) => {
  const before = await cpuSeconds(pid);
  const seconds = await send(path);
  return { seconds, cpu: (await cpuSeconds(pid)) - before };
};

/** Turn about, so that all see the same noise of the machine. */
const benchOne = async ({ store, account, watched, rivals, large }: UploadSubject) => {
  const times: number[] = [];
  const grown: Growth[][] = [];
  const theirs = rivals.map((rival) => ({
    rival,
    seconds: [] as number[],
    cpu: [] as number[],
  }));
  for (let round = 0; round < rounds; round++) {
    const work = async () => times.push(await uploadAndRemove(account, large));
    grown.push(await growthDuring(watched, work));
    await pause(settleMs);
    for (const their of theirs) {
      const { seconds, cpu } = await measureRival(their.rival, large);
      their.seconds.push(seconds);
      their.cpu.push(cpu);
      await pause(settleMs);
    }
  }
  const rate = large.mib / median(times);
  console.log(
    `upload of ${large.mib} MiB to ${store}: ${rate.toFixed(0)} MiB/s; ${textOfAll(grown, watched)}`,
  );
  for (const { rival, seconds, cpu } of theirs) {
    const theirRate = large.mib / median(seconds);
    const limit = rival.bound === undefined ? '' : ` (bound: ${rival.bound})`;
    console.log(
      `  ${rival.name}: ${theirRate.toFixed(0)} MiB/s, ${median(cpu).toFixed(1)} s CPU; ratio ${(rate / theirRate).toFixed(2)}${limit}`,
    );
  }
};

const benchMany = async ({ store, account, watched, small }: UploadSubject) => {
  const grown = await growthDuring(watched, () =>
    Promise.all(Array.from({ length: atOnce }, () => uploadAndRemove(account, small))),
  );
  console.log(
    `${atOnce} uploads of ${small.mib} MiB at once to ${store}: ${textOfAll([grown], watched)}`,
  );
};

/** One large file, then many smaller ones at once. */
export const benchUploads = async (subject: UploadSubject): Promise<void> => {
  await benchOne(subject);
  await benchMany(subject);
};
