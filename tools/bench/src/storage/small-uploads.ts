import { readFile } from 'node:fs/promises';
import { compare } from '../compare.ts';
import type { Account } from './account.ts';
import type { Watched } from './growth.ts';
import type { Sink } from './rivals/sink.ts';

export interface SmallUploadSubject {
  /** What is measured. */
  name: string;
  account: Account;
  watched: readonly Watched[];
  sink: Sink;
  /** Of the file that is sent. */
  path: string;
}

const connections = 32;
const bound = 0.6;
/** Nothing is removed meanwhile: it would take the disk from those that are measured. */
const pace = { rounds: 5, roundSeconds: 3 };
const boundary = 'between-the-parts-of-a-form';

const formWith = (content: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n`,
    ),
    content,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);

/** A file of 1 MiB after the other, against a server that writes and syncs as much. */
export const benchSmallUploads = async (subject: SmallUploadSubject): Promise<void> => {
  const { name, account, watched, sink, path } = subject;
  const body = formWith(await readFile(path));
  const request = {
    method: 'POST',
    headers: { ...account.headers, 'content-type': `multipart/form-data; boundary=${boundary}` },
    body,
    connections,
  } as const;
  await compare(
    'upload',
    bound,
    { name, pids: watched.map(({ pid }) => pid), request: { ...request, url: account.uploadUrl } },
    {
      name: 'node:http, file and name synced',
      pids: [sink.pid],
      request: { ...request, url: sink.keptUrl },
    },
    pace,
  );
};
