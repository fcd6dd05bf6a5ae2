import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { CallFailed, call } from '@backlot/cli/api';
import type { operatorRoutes, RouteBody } from '@backlot/contract';
import { operatorTarget } from '../operator-target.ts';
import { say } from '../output.ts';
import { type Manifest, readManifestHash } from './manifest.ts';

type Told = RouteBody<typeof operatorRoutes.noteBackup>;

const longestPlace = 300;
const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0);

const describe = (folder: string, manifest: Manifest, isVerified: boolean): Told => {
  const { beganAt, endedAt, release, schemas, files } = manifest;
  const tables = schemas.flatMap((schema) => schema.tables);
  return {
    beganAt,
    endedAt,
    release,
    sizeBytes:
      sumOf(tables.map(({ part }) => part.sizeBytes)) + files.list.sizeBytes + files.sizeBytes,
    rows: sumOf(tables.map(({ rows }) => rows)),
    files: files.count,
    lostFiles: files.lost.length,
    place: `${hostname()}:${resolve(folder)}`.slice(-longestPlace),
    keyIds: [...new Set(Object.values(manifest.keys).flat())],
    isVerified,
  };
};

/**
 * So that operators see the back-up in the console, and Health when the next one is due. It is whole without
 * that: where nobody answers a line says so.
 */
export const tellInstallation = async (
  folder: string,
  manifest: Manifest,
  { isVerified }: { isVerified: boolean },
): Promise<boolean> => {
  try {
    const id = await readManifestHash(folder);
    const body = describe(folder, manifest, isVerified);
    await call(operatorTarget(), 'PUT', `/api/platform/backups/${id}`, body);
    return true;
  } catch (error) {
    if (!(error instanceof CallFailed)) throw error;
    say(
      `The installation was not told of this back-up: ${error.message} Once BACKLOT_HOST and BACKLOT_OPERATOR_TOKEN lead to it: pnpm ops restore --dry-run --from ${folder}`,
    );
    return false;
  }
};
