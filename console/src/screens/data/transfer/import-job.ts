import { newId } from '@backlot/client';
import { call } from '../../../api/call.ts';
import type { Answer } from '../../../api/operation-types.ts';
import { queryClient } from '../../../api/queries.ts';
import { readParts } from './line-parts.ts';

/** An import as it stands. It goes on while one looks at other screens, and is kept over a reload of the page. */
export interface ImportJob {
  /** Its name for the API: a line makes one record under it, however often it is sent. */
  readonly id: string;
  readonly projectId: string;
  readonly collection: string;
  readonly fileName: string;
  readonly fileBytes: number;
  readonly dropOwners: boolean;
  /** `left`: the page was closed; it goes on with the same file. */
  readonly state: 'running' | 'stopped' | 'left' | 'failed' | 'done';
  readonly sentBytes: number;
  readonly nextLine: number;
  readonly created: number;
  readonly skipped: number;
  readonly failed: readonly { line: number; error: string }[];
  readonly failedCount: number;
  readonly types?: Readonly<Record<string, string>> | undefined;
  readonly error?: string | undefined;
}

type Part = Answer<'importRecords'>;

const shownFailures = 100;
const jobs = new Map<string, ImportJob>();
const listeners = new Set<() => void>();
const storageKey = (projectId: string, collection: string) =>
  `backlot import ${projectId}/${collection}`;

const keep = (job: ImportJob) => {
  const key = storageKey(job.projectId, job.collection);
  jobs.set(key, job);
  try {
    localStorage.setItem(key, JSON.stringify(job));
  } catch {
    // It then holds for this page alone.
  }
  for (const listener of listeners) listener();
};

export const subscribeToImports = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** The last one of a collection. */
export const findImport = (projectId: string, collection: string): ImportJob | undefined => {
  const key = storageKey(projectId, collection);
  const known = jobs.get(key);
  if (known) return known;
  try {
    const job = JSON.parse(localStorage.getItem(key) ?? 'null') as ImportJob | null;
    if (!job) return undefined;
    const found: ImportJob = job.state === 'running' ? { ...job, state: 'left' } : job;
    jobs.set(key, found);
    return found;
  } catch {
    return undefined;
  }
};

export const forgetImport = ({ projectId, collection }: ImportJob): void => {
  const key = storageKey(projectId, collection);
  jobs.delete(key);
  try {
    localStorage.removeItem(key);
  } catch {
    // There was nothing kept.
  }
  for (const listener of listeners) listener();
};

/** Lists that know nothing of the new records yet. */
const readAnew = () => {
  void queryClient.invalidateQueries({ queryKey: ['listCollections'] });
  void queryClient.invalidateQueries({ queryKey: ['getCollectionShape'] });
};

const isCsvFile = (name: string) => /\.(csv|tsv)$/i.test(name);

const warn = (event: BeforeUnloadEvent) => event.preventDefault();

const stillRuns = (job: ImportJob) => {
  const now = findImport(job.projectId, job.collection);
  return now?.id === job.id && now.state === 'running';
};

const add = (job: ImportJob, part: Part): ImportJob => ({
  ...job,
  created: job.created + part.created,
  skipped: job.skipped + part.skipped,
  failed: [...job.failed, ...part.failed.map(({ line, error }) => ({ line, error }))].slice(
    0,
    shownFailures,
  ),
  failedCount: job.failedCount + part.failedCount,
  types: part.types ?? job.types,
});

const sendLines = (job: ImportJob, body: Blob, firstLine: number, from: number) => {
  const isCsv = isCsvFile(job.fileName);
  return call(
    'importRecords',
    {
      project: job.projectId,
      params: { collection: job.collection },
      query: {
        format: isCsv ? 'csv' : 'ndjson',
        import: job.id,
        firstLine,
        from,
        // So that a column is the same in all parts.
        ...(job.types && { types: job.types as never }),
        ...(job.dropOwners && { unknownOwners: 'drop' }),
      },
      body: body as File,
    },
    {
      headers: {
        'Content-Type': isCsv ? 'text/csv' : 'application/x-ndjson',
        // Its own name keeps it from being done twice.
        'Idempotency-Key': undefined,
      },
    },
  );
};

const run = async (started: ImportJob, file: File): Promise<void> => {
  let job = started;
  const isCsv = isCsvFile(file.name);
  let header: Blob | undefined;
  addEventListener('beforeunload', warn);
  try {
    for await (const { bytes, firstLine, next, endByte } of readParts(file, isCsv)) {
      if (isCsv && !header) header = bytes;
      else if (next > job.nextLine) {
        const body = header ? new Blob([header, bytes]) : bytes;
        let from: number | null = Math.max(job.nextLine, firstLine);
        while (from !== null) {
          if (!stillRuns(job)) return;
          const part: Part = await sendLines(job, body, firstLine, from);
          job = { ...add(job, part), nextLine: part.next ?? next };
          if (part.stopped) throw new Error(`Line ${part.next}: ${part.stopped.error}`);
          from = part.next;
          if (stillRuns(job)) keep(job);
          // The first part may have made the collection.
          if (job.created === part.created) readAnew();
        }
      }
      job = { ...job, sentBytes: endByte };
      if (stillRuns(job)) keep(job);
    }
    if (stillRuns(job)) keep({ ...job, state: 'done' });
  } catch (error) {
    keep({ ...job, state: 'failed', error: (error as Error).message });
  } finally {
    readAnew();
    removeEventListener('beforeunload', warn);
  }
};

export const startImport = (
  { projectId, collection }: Pick<ImportJob, 'projectId' | 'collection'>,
  file: File,
  dropOwners: boolean,
): void => {
  const job: ImportJob = {
    id: newId(),
    projectId,
    collection,
    fileName: file.name,
    fileBytes: file.size,
    dropOwners,
    state: 'running',
    sentBytes: 0,
    nextLine: 1,
    created: 0,
    skipped: 0,
    failed: [],
    failedCount: 0,
  };
  keep(job);
  void run(job, file);
};

/** What lines were sent is not done again. @throws Error for another file */
export const goOn = (job: ImportJob, file: File): void => {
  if (file.name !== job.fileName || file.size !== job.fileBytes)
    throw new Error(`This is another file: choose ${job.fileName} again.`);
  const { error: _, ...rest } = job;
  const next: ImportJob = { ...rest, state: 'running' };
  keep(next);
  void run(next, file);
};

export const stopImport = (job: ImportJob): void => keep({ ...job, state: 'stopped' });
