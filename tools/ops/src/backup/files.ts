import { createReadStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { BlobNotFound, type BlobStore } from '@backlot/storage';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { blobPath, fileListPath, type Manifest } from './manifest.ts';
import { checkPart, type Part, readPart, writePart } from './parts.ts';

interface StoredFile extends Part {
  key: string;
}

/** Files that are copied at once. */
const concurrency = 4;
const wantedPath = (folder: string) => join(folder, 'files.wanted');

/** The blobs of files, as the snapshot has them. Those of uploads under way are left: they begin anew. */
export const listFiles = async (client: pg.ClientBase, folder: string): Promise<void> => {
  const line = `json_build_object('key', blob_key, 'sizeBytes', size_bytes, 'sha256', encode(sha256, 'hex'))`;
  // Text of COPY doubles backslashes, which none of these has.
  const source = client.query(
    copyTo(`COPY (SELECT ${line} FROM storage.files ORDER BY blob_key) TO STDOUT`),
  );
  await writePart(wantedPath(folder), source);
};

async function* readLines<File>(path: string): AsyncGenerator<File> {
  const lines = createInterface({
    input: createReadStream(path),
    crlfDelay: Number.POSITIVE_INFINITY,
  });
  for await (const line of lines) yield JSON.parse(line) as File;
}

/** In order, several at once. */
const mapLines = <File, T>(path: string, work: (file: File) => Promise<T>): AsyncIterable<T> =>
  Readable.from(readLines<File>(path)).map(work, { concurrency });

/** As the service knows it; of older files also by their hash. */
interface WantedFile {
  key: string;
  sizeBytes: number;
  sha256: string | null;
}

type Copied = { file: StoredFile } | { deleted: string } | { lost: string };

const isWanted = (wanted: WantedFile, part: Part | undefined): part is Part =>
  part?.sizeBytes === wanted.sizeBytes && (wanted.sha256 ?? part.sha256) === part.sha256;

/** What is there under its name is whole, also where a run was killed. */
const copyBytes = async (
  store: BlobStore,
  path: string,
  { key }: WantedFile,
): Promise<Part | undefined> => {
  const unfinished = `${path}.part`;
  try {
    const part = await writePart(unfinished, await store.open(key));
    await rename(unfinished, path);
    return part;
  } catch (error) {
    if (error instanceof BlobNotFound) return undefined;
    throw error;
  }
};

const copyFile = async (
  client: pg.ClientBase,
  store: BlobStore,
  folder: string,
  wanted: WantedFile,
): Promise<Copied> => {
  const { key } = wanted;
  const path = blobPath(folder, key);
  const there = await readPart(path).catch(() => undefined);
  const part = isWanted(wanted, there) ? there : await copyBytes(store, path, wanted);
  if (isWanted(wanted, part)) return { file: { key, ...part } };
  await rm(path, { force: true });
  const { rowCount } = await client.query('SELECT FROM storage.files WHERE blob_key = $1', [key]);
  return rowCount ? { lost: key } : { deleted: key };
};

/** Behind the snapshot: files never change, so each row finds its bytes unless somebody has deleted it since. */
export const copyFiles = async (
  client: pg.ClientBase,
  store: BlobStore,
  folder: string,
): Promise<Manifest['files']> => {
  const [deleted, lost]: [string[], string[]] = [[], []];
  let [count, sizeBytes] = [0, 0];
  async function* copied() {
    const work = (file: WantedFile) => copyFile(client, store, folder, file);
    for await (const outcome of mapLines(wantedPath(folder), work)) {
      if ('deleted' in outcome) deleted.push(outcome.deleted);
      else if ('lost' in outcome) lost.push(outcome.lost);
      else {
        count += 1;
        sizeBytes += outcome.file.sizeBytes;
        yield Buffer.from(`${JSON.stringify(outcome.file)}\n`);
      }
    }
  }
  const list = await writePart(fileListPath(folder), copied());
  await rm(wantedPath(folder));
  return { list, count, sizeBytes, deleted, lost };
};

/** @throws DamagedBackup naming the first that is */
export const checkFiles = async (folder: string): Promise<void> => {
  const work = (file: StoredFile) => checkPart(blobPath(folder, file.key), file);
  for await (const _ of mapLines(fileListPath(folder), work));
};

const sizeIn = (store: BlobStore, key: string): Promise<number | undefined> =>
  store.sizeBytes(key).catch((error: unknown) => {
    if (error instanceof BlobNotFound) return undefined;
    throw error;
  });

/** @throws Error where the store has any of the files: it is that of the live installation, or of an earlier try */
export const requireNoFiles = async (store: BlobStore, folder: string): Promise<void> => {
  const work = async ({ key }: StoredFile) => ({ key, size: await sizeIn(store, key) });
  for await (const { key, size } of mapLines(fileListPath(folder), work))
    if (size !== undefined)
      throw new Error(
        `The file store has ${key} of the back-up already. Is it the store of an installation that runs? --continue if a restore that broke off has put it there.`,
      );
};

export const putFiles = async (store: BlobStore, folder: string): Promise<void> => {
  const work = async ({ key, sizeBytes }: StoredFile) => {
    if ((await sizeIn(store, key)) === sizeBytes) return;
    await store.put(key, createReadStream(blobPath(folder, key)) as AsyncIterable<Buffer>);
  };
  for await (const _ of mapLines(fileListPath(folder), work));
};
