import { send } from '../../../api/call.ts';
import type { Where } from '../collection/address.ts';

export interface ExportJob {
  readonly state: 'running' | 'done' | 'failed';
  readonly bytes: number;
  readonly error?: Error;
}

interface What {
  projectId: string;
  collection: string;
  format: 'ndjson' | 'csv';
  where: Where | undefined;
  /** What it may become, to choose where the bytes go. */
  expectedBytes: number;
}

const jobs = new Map<string, ExportJob>();
const listeners = new Set<() => void>();
const keyFor = ({ projectId, collection }: Pick<What, 'projectId' | 'collection'>) =>
  `${projectId}/${collection}`;

export const subscribeToExports = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};
export const findExport = (projectId: string, collection: string): ExportJob | undefined =>
  jobs.get(keyFor({ projectId, collection }));

interface Sink {
  write(bytes: Uint8Array<ArrayBuffer>): unknown;
  close(): unknown;
}

/** Where the browser lets a page write to a file of the person's choice, nothing of it stays in memory. */
const pickedFile = async (name: string): Promise<Sink | undefined> => {
  const picker = (window as { showSaveFilePicker?(options: object): Promise<FileSystemFileHandle> })
    .showSaveFilePicker;
  if (!picker) return undefined;
  const file = await picker.call(window, { suggestedName: name });
  return file.createWritable();
};

const download = (name: string, type: string): Sink => {
  let parts: Blob[] = [];
  return {
    write(bytes) {
      parts.push(new Blob([bytes]));
    },
    close() {
      const address = URL.createObjectURL(new Blob(parts, { type }));
      parts = [];
      const link = document.createElement('a');
      link.href = address;
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(address), 60_000);
    },
  };
};

const largeBytes = 200 * 1024 * 1024;
const tellEveryBytes = 256 * 1024;

/** Saves a collection as a file. It goes on while one looks at other screens. */
export const startExport = async (what: What): Promise<void> => {
  const { projectId, collection, format, where, expectedBytes } = what;
  const keep = (job: ExportJob) => {
    jobs.set(keyFor(what), job);
    for (const listener of listeners) listener();
  };
  let bytes = 0;
  try {
    const name = `${collection}.${format}`;
    const type = format === 'csv' ? 'text/csv' : 'application/x-ndjson';
    const picked = expectedBytes > largeBytes ? await pickedFile(name) : undefined;
    const sink = picked ?? download(name, type);
    keep({ state: 'running', bytes });
    const answer = await send('exportRecords', {
      project: projectId,
      params: { collection },
      query: { format, ...(where && { where }) },
    });
    let told = 0;
    for (let reader = answer.body?.getReader(); reader; ) {
      const { value, done } = await reader.read();
      if (done) break;
      await sink.write(value);
      bytes += value.length;
      if (bytes - told < tellEveryBytes) continue;
      told = bytes;
      keep({ state: 'running', bytes });
    }
    await sink.close();
    keep({ state: 'done', bytes });
  } catch (error) {
    if ((error as Error).name === 'AbortError') jobs.delete(keyFor(what));
    else keep({ state: 'failed', bytes, error: error as Error });
  }
};
