import { ApiError, type ArchiveKind, archiveKinds, MIB, projectRoutes } from '@backlot/contract';
import { z } from 'zod';

/** One file in an archive. */
export interface Entry {
  name: string;
  sizeBytes: number;
  content: AsyncIterable<Uint8Array>;
}

/** What an entry is by its name. */
export type EntryPlace =
  | { part: 'manifest' | 'config' }
  | { part: ArchiveKind; page: number; collection?: string }
  | { part: 'content'; fileId: string };

const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const lines = String.raw`(\d{6})\.ndjson`;
const forms = {
  records: new RegExp(`^records/([A-Za-z][A-Za-z0-9_-]{0,62})/${lines}$`),
  others: new RegExp(`^(users|groups|members|collections|shares|files)/${lines}$`),
  content: new RegExp(`^content/(${uuid})$`),
};

export const manifestName = 'manifest.json';
export const configName = 'config.json';
export const contentName = (fileId: string): string => `content/${fileId}`;
export const linesName = (kind: ArchiveKind, page: number, collection?: string): string =>
  [kind, ...(collection === undefined ? [] : [collection]), ''].join('/') +
  `${String(page).padStart(6, '0')}.ndjson`;

export const invalidArchive = (message: string): ApiError =>
  new ApiError('invalid_body', `This is no archive of a project: ${message}`);

/** @throws ApiError invalid_body */
export const readName = (name: string): EntryPlace => {
  if (name === manifestName) return { part: 'manifest' };
  if (name === configName) return { part: 'config' };
  const [, collection, page] = forms.records.exec(name) ?? [];
  if (collection !== undefined) return { part: 'records', collection, page: Number(page) };
  const [, kind, at] = forms.others.exec(name) ?? [];
  if (kind !== undefined) return { part: kind as ArchiveKind, page: Number(at) };
  const [, fileId] = forms.content.exec(name) ?? [];
  if (fileId !== undefined) return { part: 'content', fileId };
  throw invalidArchive(`it has ${JSON.stringify(name.slice(0, 200))}.`);
};

const maxLinesBytes = 2 * MIB;
const maxBytes: Partial<Record<EntryPlace['part'], number>> = {
  manifest: 4096,
  config: projectRoutes.maxConfigBytes,
};

/** What is held in memory. @throws ApiError invalid_body */
export const readText = async (entry: Entry, { part }: EntryPlace): Promise<string> => {
  const most = maxBytes[part] ?? maxLinesBytes;
  if (entry.sizeBytes === 0 || entry.sizeBytes > most)
    throw invalidArchive(
      `"${entry.name}" has ${entry.sizeBytes} bytes, and may have 1 to ${most}.`,
    );
  const pieces: Uint8Array[] = [];
  for await (const piece of entry.content) pieces.push(Uint8Array.from(piece));
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(pieces));
  } catch {
    throw invalidArchive(`"${entry.name}" is not UTF-8.`);
  }
};

/** @throws ApiError invalid_body */
export const parseEntry = <T>(schema: z.ZodType<T>, name: string, text: string): T => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidArchive(`"${name}" is not JSON.`);
  }
  const { data, error } = schema.safeParse(value);
  if (data !== undefined) return data;
  throw invalidArchive(`"${name}": ${z.prettifyError(error as z.ZodError).slice(0, 500)}`);
};

const ranks = ['manifest', ...archiveKinds, 'config'];

/** More are no project of this platform: its quotas are used up before. */
const maxEntries = 250_000;

type Lines = Extract<EntryPlace, { page: number }>;

const follows = (place: Lines, before: Lines | undefined): boolean => {
  if (before?.part !== place.part) return place.page === 1;
  if (before.collection === place.collection) return place.page === before.page + 1;
  return place.page === 1 && String(before.collection) < String(place.collection);
};

/** Looks at entries in their order: each stands where an export has it. */
export const createOrderCheck = () => {
  let rank = -1;
  let lines: Lines | undefined;
  let count = 0;
  const isNext = (place: EntryPlace): boolean => {
    const next = ranks.indexOf(place.part === 'content' ? 'files' : place.part);
    if (place.part === 'content') return rank === next;
    if (rank === -1 && place.part !== 'manifest') return false;
    if (!('page' in place)) return next > rank;
    return next >= rank && follows(place, lines);
  };
  /** @throws ApiError invalid_body */
  return (name: string): EntryPlace => {
    const place = readName(name);
    count += 1;
    if (!isNext(place) || count > maxEntries)
      throw invalidArchive(`"${name}" is not where an export has it.`);
    rank = ranks.indexOf(place.part === 'content' ? 'files' : place.part);
    if ('page' in place) lines = place;
    return place;
  };
};
