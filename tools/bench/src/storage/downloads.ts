import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { compare } from '../compare.ts';
import { load } from '../load/load.ts';
import type { Account } from './account.ts';
import type { Watched } from './growth.ts';
import type { Nginx } from './rivals/nginx.ts';

export interface DownloadSubject {
  /** What is measured. */
  name: string;
  account: Account;
  watched: readonly Watched[];
  nginx: Nginx;
  /** Of what nginx serves. */
  nginxUrl: string;
  /** Lies where nginx finds it. */
  path: string;
}

const connections = 32;
const bound = 0.5;
const part = { start: 100_000, end: 899_999 };
const checkedSeconds = 2;

const expectPart = async (url: string, range: string, status: number, expected: Buffer) => {
  const response = await fetch(url, { headers: { range: `bytes=${range}` } });
  const got = Buffer.from(await response.arrayBuffer());
  if (response.status !== status || !got.equals(expected))
    throw new Error(`${range}: ${response.status}, ${got.length} bytes`);
};

/** Byte by byte. */
const checkParts = async (url: string, bytes: Buffer) => {
  const last = bytes.length - 1;
  await expectPart(url, `0-${last}`, 206, bytes);
  await expectPart(url, '0-0', 206, bytes.subarray(0, 1));
  await expectPart(url, '-5', 206, bytes.subarray(-5));
  await expectPart(url, `${last}-`, 206, bytes.subarray(last));
  await expectPart(url, '65530-65545', 206, bytes.subarray(65_530, 65_546));
  await expectPart(url, `${part.start}-${part.end}`, 206, bytes.subarray(part.start, part.end + 1));
};

/** A file of the project against the same file from nginx: all of it, and a part. */
export const benchDownloads = async (subject: DownloadSubject): Promise<void> => {
  const { name, account, watched, nginx, path } = subject;
  const { id, url } = await account.upload(path);
  const nginxUrl = `${subject.nginxUrl}/${basename(path)}`;
  const pids = watched.map(({ pid }) => pid);
  const against = (what: string, headers: Record<string, string>) =>
    compare(
      what,
      bound,
      { name, pids, request: { url, headers, connections } },
      {
        name: 'nginx, sendfile off',
        pids: [nginx.pid],
        request: { url: nginxUrl, headers, connections },
      },
    );
  await against('1 MiB', {});
  const headers = { range: `bytes=${part.start}-${part.end}` };
  await against('a part', headers);
  const bytes = part.end - part.start + 1;
  const request = { url, headers, connections, expected: { status: 206, bytes } };
  const { requestsPerSecond, failures } = await load(request, checkedSeconds);
  if (failures > 0) throw new Error(`${failures} answers are not the part that was asked for.`);
  await checkParts(url, await readFile(path));
  console.log(
    `parts: each of ${(requestsPerSecond * checkedSeconds).toFixed(0)} answers was a 206 of ${bytes} bytes; first, last, suffix and inner parts are right byte by byte`,
  );
  await account.remove(id);
};
