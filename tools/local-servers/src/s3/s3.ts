import { createHash, randomBytes } from 'node:crypto';
import { basename, join } from 'node:path';
import type { ContainerCommand } from '../process/container.ts';
import { findFreePort } from '../process/free-port.ts';
import { type OwnServer, type ProgramCommand, startOwnServer } from '../process/own-server.ts';
import { type Found, findServer } from '../process/program-ladder.ts';
import { openServerFolder } from '../process/server-folder.ts';
import { type CephAccess, cephPackages, prepareCeph } from './ceph.ts';

export interface S3Options {
  /** Holds settings and logs; objects are in memory. Created where needed. */
  dataDir: string;
}

export interface S3Access {
  /** For example `http://127.0.0.1:17480`; buckets are in the path. */
  endpoint: string;
  accessKeyId: string;
  secretAccessKey: string;
}

export interface RunningS3 extends OwnServer, S3Access {}

const image = 'minio/minio:RELEASE.2025-04-22T22-12-26Z';

/**
 * Starts an S3 server for tests on 127.0.0.1, empty, its data in memory or thrown away: Ceph's radosgw,
 * or MinIO where there is Docker. Throws with what to install when there is neither.
 */
export async function startS3({ dataDir }: S3Options): Promise<RunningS3> {
  const found = await findServer({
    name: 'An S3 server',
    candidates: ['radosgw', 'minio'],
    debianPackage: cephPackages,
    homebrewPackage: 'minio',
    setting: 'S3_TEST_ENDPOINT',
  });
  const folder = await openServerFolder(dataDir, 's3', true);
  try {
    const access: CephAccess = {
      port: await findFreePort(29_000 + Math.floor(Math.random() * 2_000)),
      accessKeyId: randomBytes(10).toString('hex').toUpperCase(),
      secretAccessKey: randomBytes(20).toString('hex'),
    };
    const endpoint = `http://127.0.0.1:${access.port}`;
    const command = await commandFor(found, folder.dataDir, access);
    const server = await startOwnServer(
      {
        ...command,
        name: 'The S3 server',
        ready: () =>
          fetch(endpoint).then(
            ({ status }) => status < 500,
            () => false,
          ),
      },
      folder,
    );
    return { ...server, ...access, endpoint };
  } catch (error) {
    await folder.release();
    throw error;
  }
}

type Unnamed<Command> = Omit<Command, 'name' | 'ready'>;

async function commandFor(
  found: Found,
  dataDir: string,
  access: CephAccess,
): Promise<Unnamed<ProgramCommand> | Unnamed<ContainerCommand>> {
  const credentials = {
    MINIO_ROOT_USER: access.accessKeyId,
    MINIO_ROOT_PASSWORD: access.secretAccessKey,
  };
  if (found.kind === 'container') {
    return {
      image,
      container: `backlot-s3-${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`,
      command: ['server', '/data'],
      env: credentials,
      ports: { 9000: access.port },
    };
  }
  if (basename(found.path) === 'minio') {
    const data = join(dataDir, 'objects');
    const args = ['server', '--address', `127.0.0.1:${access.port}`, data];
    return { file: found.path, args, env: { ...process.env, ...credentials }, marker: data };
  }
  const script = await prepareCeph(dataDir, access);
  const env = { PATH: `${process.env.PATH}:/usr/sbin:/usr/bin:/bin`, LC_ALL: 'C', TZ: 'UTC' };
  return { file: '/bin/sh', args: [script], env, marker: script };
}
