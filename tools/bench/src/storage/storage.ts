import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startS3 } from '@backlot/local-servers';
import { operatorToken } from '../prepare.ts';
import { devSettings, reachable, startProgram } from '../program.ts';
import { type Account, openAccount, warmUp } from './account.ts';
import { benchDownloads } from './downloads.ts';
import { type Watched, watch } from './growth.ts';
import { writeNoise } from './noise.ts';
import { directS3 } from './rivals/direct-s3.ts';
import { startNginx } from './rivals/nginx.ts';
import { type Sink, startSink } from './rivals/sink.ts';
import { benchSmallUploads } from './small-uploads.ts';
import { prepareStack, type Stack } from './stack.ts';
import { benchThumbnails } from './thumbnails.ts';
import { benchUploads } from './uploads.ts';

const port = 18_500;
const sinkPort = 18_520;
const nginxPort = 18_521;
const onePort = 18_530;

interface Bed {
  folder: string;
  account: Account;
  small: { mib: number; path: string };
  large: { mib: number; path: string };
  running: (() => Promise<unknown>)[];
}

const startPair = async (stack: Stack) => ({
  storage: await stack.start('storage'),
  gateway: await stack.start('gateway-1'),
});
type Pair = Awaited<ReturnType<typeof startPair>>;

const watchPair = ({ gateway, storage }: Pair) => [
  watch('gateway', gateway.pid),
  watch('storage', storage.pid),
];

/** All services in one process, as `pnpm dev` runs them. */
const onePlatform = async (
  { folder, small }: Bed,
  measure: (platform: {
    name: string;
    account: Account;
    watched: readonly Watched[];
  }) => Promise<void>,
) => {
  const program = startProgram(fileURLToPath(import.meta.resolve('@backlot/all-in-one/main')), [], {
    ...devSettings,
    PORT: String(onePort),
    BACKLOT_DATA_DIR: join(folder, 'all-in-one'),
    BACKLOT_OPERATOR_TOKEN: operatorToken,
    BACKLOT_LOG_LEVEL: 'error',
  });
  try {
    const origin = `http://localhost:${onePort}`;
    await reachable(`${origin}/readyz`, 200);
    const account = await openAccount(origin);
    await warmUp(account, small.path);
    await measure({ name: 'all-in-one', account, watched: [watch('all-in-one', program.pid)] });
  } finally {
    await program.stop();
  }
};

/** Through two processes, and through one. */
const benchManyUploads = async (bed: Bed, pair: Pair, sink: Sink) => {
  const subject = { sink, path: writeNoise(bed.folder, 1) };
  await warmUp(bed.account, subject.path);
  const name = 'gateway and storage';
  await benchSmallUploads({ ...subject, name, account: bed.account, watched: watchPair(pair) });
  await onePlatform(bed, (platform) => benchSmallUploads({ ...subject, ...platform }));
};

const benchFilesystem = async (bed: Bed, pair: Pair, databaseUrl: string) => {
  const { folder, account, running } = bed;
  await warmUp(account, bed.small.path);
  const watched = watchPair(pair);
  const sink = await startSink(sinkPort, folder);
  running.push(() => sink.stop());
  await benchUploads({ ...bed, store: 'a file system', watched, rivals: sink.rivals });
  await benchManyUploads(bed, pair, sink);
  const nginx = await startNginx(nginxPort, folder);
  running.push(() => nginx.stop());
  const nginxUrl = `http://127.0.0.1:${nginxPort}`;
  const subject = { nginx, nginxUrl, path: writeNoise(folder, 1) };
  await benchDownloads({ ...subject, name: 'gateway and storage', account, watched });
  await onePlatform(bed, (platform) => benchDownloads({ ...subject, ...platform }));
  await benchThumbnails({ account, pid: pair.storage.pid, databaseUrl, folder });
};

/** With processes of its own: memory that grew before is not counted as not growing. */
const benchS3 = async (bed: Bed, stackOn: (settings: Record<string, string>) => Stack) => {
  const s3 = await startS3({ dataDir: join(bed.folder, 's3') });
  bed.running.push(() => s3.stop());
  const bucket = `bench-${randomUUID()}`;
  const rival = await directS3(s3, bucket);
  const stack = stackOn({
    BACKLOT_S3_BUCKET: bucket,
    BACKLOT_S3_ENDPOINT: s3.endpoint,
    BACKLOT_S3_PATH_STYLE: 'true',
    BACKLOT_S3_CHECKSUMS: 'WHEN_REQUIRED',
    BACKLOT_S3_ACCESS_KEY_ID: s3.accessKeyId,
    BACKLOT_S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
  });
  const pair = await startPair(stack);
  await warmUp(bed.account, bed.small.path);
  await benchUploads({ ...bed, store: 'S3', watched: watchPair(pair), rivals: [rival] });
};

const benchAll = async (folder: string, running: Bed['running']) => {
  const stackOn = await prepareStack(port, folder, running);
  const stack = stackOn({});
  for (const name of ['auth', 'projects']) await stack.start(name);
  const pair = await startPair(stack);
  const bed: Bed = {
    folder,
    running,
    account: await openAccount(stack.origin),
    small: { mib: 64, path: writeNoise(folder, 64) },
    large: { mib: 1024, path: writeNoise(folder, 1024) },
  };
  await benchFilesystem(bed, pair, stack.databaseUrl);
  for (const part of [pair.gateway, pair.storage]) await part.stop();
  await benchS3(bed, stackOn);
};

/** Files through gateway and storage, each in a process of its own, against what does without them. */
export const benchStorage = async (): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'backlot-bench-'));
  const running: Bed['running'] = [];
  try {
    await benchAll(folder, running);
  } finally {
    for (const stop of running.reverse()) await stop();
    await rm(folder, { recursive: true, force: true });
  }
};
