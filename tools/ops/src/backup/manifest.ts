/**
 * A back-up is a folder: `database/<schema>.<table>.copy.zst`, `files/<key>`, the list of files, and the
 * manifest with the hash of each part. The manifest's own hash is written last: without it the folder is
 * no back-up.
 */
import { createHash } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { DamagedBackup, syncFolder } from './parts.ts';

const part = z.object({ sizeBytes: z.number().int(), sha256: z.string() });

const manifest = z.object({
  format: z.literal(1),
  release: z.string(),
  /** All that was acknowledged before is in it. */
  beganAt: z.iso.datetime(),
  endedAt: z.iso.datetime(),
  /** Names of the keys that open what is sealed in it, by their setting. The keys are not in it. */
  keys: z.record(z.string(), z.array(z.string())),
  schemas: z.array(
    z.object({
      schema: z.string(),
      migrations: z.array(z.string()),
      tables: z.array(
        z.object({
          table: z.string(),
          columns: z.array(z.string()),
          rows: z.number().int(),
          path: z.string(),
          part,
        }),
      ),
      sequences: z.array(z.object({ name: z.string(), value: z.string(), isCalled: z.boolean() })),
    }),
  ),
  files: z.object({
    list: part,
    count: z.number().int(),
    sizeBytes: z.number().int(),
    /** Blobs of rows that are in it, whose files were deleted while it was made. */
    deleted: z.array(z.string()),
    /** Blobs of files that the store had lost before. */
    lost: z.array(z.string()),
  }),
});

export type Manifest = z.output<typeof manifest>;
export type DumpedSchema = Manifest['schemas'][number];
export type DumpedTable = DumpedSchema['tables'][number];

export const manifestPath = (folder: string) => join(folder, 'manifest.json');
const hashPath = (folder: string) => join(folder, 'manifest.sha256');
export const fileListPath = (folder: string) => join(folder, 'files.ndjson');
export const blobPath = (folder: string, key: string) => join(folder, 'files', key);

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** With it the folder is a back-up. */
export const writeManifest = async (folder: string, value: Manifest): Promise<void> => {
  const text = `${JSON.stringify(value, null, 2)}\n`;
  await writeFile(manifestPath(folder), text, { mode: 0o600, flush: true });
  const temporary = `${hashPath(folder)}.part`;
  await writeFile(temporary, `${sha256(text)}\n`, { mode: 0o600, flush: true });
  await rename(temporary, hashPath(folder));
  await syncFolder(folder);
};

/** Hexadecimal; which back-up it is. @throws DamagedBackup where it is none */
export const readManifestHash = async (folder: string): Promise<string> => {
  const hash = await readFile(hashPath(folder), 'utf8').catch((cause: unknown) => {
    throw new DamagedBackup(
      `${folder} holds no whole back-up: manifest.sha256, which is written last, is missing.`,
      { cause },
    );
  });
  return hash.trim();
};

/** @throws DamagedBackup where it is none, or its manifest was changed */
export const readManifest = async (folder: string): Promise<Manifest> => {
  const hash = await readManifestHash(folder);
  const text = await readFile(manifestPath(folder), 'utf8').catch(() => '');
  if (sha256(text) !== hash)
    throw new DamagedBackup(`The part ${manifestPath(folder)} is damaged.`);
  const parsed = manifest.safeParse(JSON.parse(text));
  if (parsed.success) return parsed.data;
  throw new DamagedBackup(`${manifestPath(folder)} is of another release: its form is not known.`);
};
