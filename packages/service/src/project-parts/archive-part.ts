import {
  ApiError,
  type ArchiveDirectory,
  type ArchiveKind,
  type ArchiveLines,
  type ArchiveOutcome,
  type ArchivePlace,
  type ArchiveReading,
  archiveKinds,
} from '@backlot/contract';
import type { Database } from '@backlot/database';
import express, { Router } from 'express';
import { z } from 'zod';
import { isRefusal } from './config-part.ts';

/** How a service keeps one kind of what an archive of a project has lines of. */
export interface ArchiveStore {
  /** So many lines that they are 2 MiB at most; which ones follows from the contents alone. */
  read(reading: ArchiveReading): Promise<ArchiveLines>;
  /** All or none. @throws ApiError, and `invalidArchive` where they are not as `read` writes them */
  take(place: ArchivePlace, lines: readonly string[]): Promise<unknown>;
}

/** Of one page: more are no statement of PostgreSQL. */
const maxLines = 1000;

type Stores = Partial<Record<ArchiveKind, ArchiveStore>>;

export const invalidArchive = (message: string): ApiError => new ApiError('invalid_body', message);

/** What is over it goes into the next page; less than an import takes of one. */
const fullPageBytes = 1024 * 1024;

/** Rows of which one more was read than are shown, as lines. */
export const toArchiveLines = <Row>(
  rows: readonly Row[],
  limit: number,
  show: (row: Row) => unknown,
  position: (row: Row) => string,
): ArchiveLines => {
  const lines: string[] = [];
  let bytes = 0;
  let last: Row | undefined;
  for (const row of rows.slice(0, limit)) {
    const line = `${JSON.stringify(show(row))}\n`;
    bytes += Buffer.byteLength(line);
    if (lines.length > 0 && bytes > fullPageBytes) break;
    lines.push(line);
    last = row;
  }
  const hasMore = rows.length > lines.length;
  return { text: lines.join(''), next: hasMore && last ? position(last) : null };
};

/** An object of an archive: unknown fields are refused, because what they mean would be lost. */
export const archivedObject = <Shape extends z.ZodRawShape>(shape: Shape) => z.strictObject(shape);

const parseJson = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
};

/** @throws ApiError that names the line */
export const readArchiveLines = <T>(schema: z.ZodType<T>, lines: readonly string[]): T[] =>
  lines.map((line, at) => {
    const { data, error } = schema.safeParse(parseJson(line));
    if (data !== undefined) return data;
    const [issue] = error?.issues ?? [];
    const place = issue?.path.length ? `"${issue.path.join('.')}" ` : '';
    throw invalidArchive(`line ${at + 1}: ${place}${issue?.message ?? 'is not valid'}`);
  });

/** What a refusal says to who asks. @throws what is none */
export const toOutcome = async (work: () => Promise<unknown>): Promise<ArchiveOutcome> => {
  try {
    await work();
    return {};
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const { code, message, hint } = error;
    return { refused: { code, message, ...(hint !== undefined && { hint }) } };
  }
};

/** What a service keeps of a project's archive. */
export const createArchivePart = (
  database: Pick<Database, 'inProject'>,
  stores: Stores,
): ArchiveDirectory => {
  const find = (kind: ArchiveKind) => {
    const store = stores[kind];
    if (!store) throw new Error(`This service keeps no ${kind}.`);
    return store;
  };
  return {
    async readLines(reading) {
      let read: ArchiveLines = { text: '', next: null };
      const outcome = await toOutcome(async () => {
        read = await database.inProject(reading.project.number, () =>
          find(reading.kind).read(reading),
        );
      });
      return { ...read, ...outcome };
    },

    takeLines: ({ text, ...place }) =>
      toOutcome(() => {
        const lines = text.split('\n');
        if (lines.pop() !== '' || lines.length === 0 || lines.length > maxLines)
          throw invalidArchive(`needs 1 to ${maxLines} lines, each with its end`);
        return database.inProject(place.project.number, () => find(place.kind).take(place, lines));
      }),
  };
};

const place = z.object({
  project: z.object({
    id: z.string(),
    number: z.int().min(2),
    ownerId: z.string().nullable(),
  }),
  kind: z.enum(archiveKinds),
  collection: z.string().max(100).optional(),
  ip: z.string(),
});
const reading = place.extend({
  after: z.string().max(500).nullable(),
  hasPasswords: z.boolean(),
  asOfMs: z.number().int().optional(),
});
const taking = place.extend({ text: z.string() });

/** Lines of 2 MiB as a string of JSON. */
const maxTakingBytes = 8 * 1024 * 1024;

/** A part of the archive over HTTP, as `ArchiveDirectory` puts it. */
export const archiveRouter = ({
  readLines,
  takeLines,
}: Pick<ArchiveDirectory, 'readLines'> & Partial<ArchiveDirectory>): Router => {
  const router = Router();
  router.post('/archive/read', express.json(), async (req, res) => {
    const body = reading.safeParse(req.body);
    if (!body.success) throw new ApiError('invalid_body', 'Send which lines to read.');
    res.json(await readLines(body.data));
  });
  if (takeLines)
    router.post('/archive/take', express.json({ limit: maxTakingBytes }), async (req, res) => {
      const body = taking.safeParse(req.body);
      if (!body.success) throw new ApiError('invalid_body', 'Send lines to take.');
      res.json(await takeLines(body.data));
    });
  return router;
};
