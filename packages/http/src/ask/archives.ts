import type {
  ArchiveDirectory,
  ArchiveLines,
  ArchiveOutcome,
  FileArchiveDirectory,
} from '@backlot/contract';
import { createAsk, type HttpDirectoryOptions, jsonOrNull, nullWhereGone } from './ask.ts';

/** Below the lease of an import: what was sent and not answered has ended by the time that it is erased. */
const linesTimeoutMs = 30_000;
/** A file comes at the pace of who sends the archive. */
const contentTimeoutMs = 6 * 60 * 60_000;

const createPost = (options: HttpDirectoryOptions) => {
  const ask = createAsk(options, 'POST', linesTimeoutMs);
  return async <T>(path: string, body: unknown): Promise<T> => {
    const answer = await jsonOrNull<T>(await ask(path, body));
    // An older version of the service does not know the question.
    if (!answer) throw new Error(`${options.origin} keeps no archive.`);
    return answer;
  };
};

/** A service asked over HTTP for what an archive has of it. */
export const createHttpArchiveDirectory = (options: HttpDirectoryOptions): ArchiveDirectory => {
  const post = createPost(options);
  return {
    readLines: (reading) => post<ArchiveLines>('/internal/archive/read', reading),
    takeLines: (taking) => post<ArchiveOutcome>('/internal/archive/take', taking),
  };
};

/** The storage service asked over HTTP for what an archive has of it. */
export const createHttpFileArchiveDirectory = (
  options: HttpDirectoryOptions,
): FileArchiveDirectory => {
  const post = createPost(options);
  const ask = createAsk(options, 'POST', linesTimeoutMs);
  const send = createAsk(options, 'POST', contentTimeoutMs);
  return {
    readLines: (reading) => post<ArchiveLines>('/internal/archive/read', reading),
    async readContent(reading) {
      const response = await ask('/internal/archive/content', reading);
      if (response.status === 404) return nullWhereGone(response);
      return new Uint8Array(await response.arrayBuffer());
    },
    async takeContent(taking, content) {
      const asked = new URLSearchParams({ taking: JSON.stringify(taking) });
      const response = await send(`/internal/archive/take-content?${asked}`, content);
      const answer = await jsonOrNull<ArchiveOutcome>(response);
      if (!answer) throw new Error(`${options.origin} keeps no archive.`);
      return answer;
    },
  };
};
