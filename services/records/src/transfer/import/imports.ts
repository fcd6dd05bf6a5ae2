import type { IncomingMessage } from 'node:http';
import { ApiError, recordRoutes } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import type { Reader } from '../../reader.ts';
import { bodyChunks, ReadingOver } from './chunks.ts';
import { csvLines } from './csv-lines.ts';
import {
  ImportCall,
  type ImportCallDeps,
  type Imported,
  type ImportOptions,
} from './import-call.ts';
import { ndjsonLines } from './ndjson-lines.ts';
import { type ReadLine, Unreadable } from './read-line.ts';

/** For so long a call reads lines. */
const readMs = 15_000;
/** Lines that are written together, at most. */
const batchLines = 500;
const batchBytes = 1024 * 1024;

export interface Imports {
  /**
   * Makes records of the lines of a body. What was written before an error stays, and is passed over another time.
   * @throws ApiError where no line was done; what the connection says where the caller has gone
   */
  run(
    req: IncomingMessage,
    identity: Identity,
    options: ImportOptions,
    reader: Reader,
  ): Promise<Imported>;
}

export interface ImportsDeps extends ImportCallDeps {
  readMs?: number;
}

export const createImports = (deps: ImportsDeps): Imports => {
  const openLines = (chunks: AsyncIterable<Buffer>, options: ImportOptions, running: ImportCall) =>
    async function* (fields: Parameters<typeof csvLines>[1]['fields']) {
      const { firstLine, types } = options;
      if (options.format === 'ndjson') yield* ndjsonLines(chunks, firstLine ?? 1);
      else
        yield* csvLines(chunks, {
          firstLine,
          types,
          fields,
          onTypes: (all) => {
            running.result.types = all;
          },
        });
    };

  const runLines = async (lines: AsyncIterable<ReadLine>, from: number, running: ImportCall) => {
    let batch: ReadLine[] = [];
    let bytes = 0;
    let next = from;
    const flush = async () => {
      const taken = batch;
      batch = [];
      bytes = 0;
      await running.write(taken);
    };
    try {
      for await (const line of lines) {
        if (line.line < from) continue;
        batch.push(line);
        bytes += line.bytes;
        next = line.next;
        if (batch.length < batchLines && bytes < batchBytes) continue;
        await flush();
        if (running.isOver) return;
      }
      await flush();
    } catch (error) {
      const isOver = error instanceof ReadingOver;
      if (!isOver && !(error instanceof Unreadable)) throw error;
      await flush();
      if (!running.isOver)
        running.stop(isOver ? next : Math.max(from, error.line), isOver ? undefined : error);
    }
  };

  return {
    async run(req, identity, options, reader) {
      const running = new ImportCall(deps, identity, options, reader);
      const untilMs = performance.now() + (deps.readMs ?? readMs);
      const chunks = bodyChunks(req, { untilMs, maxBytes: recordRoutes.maxImportBytes });
      const found = await deps.collections.find(identity.project.number, options.collection);
      const open = openLines(chunks, options, running);
      const lines = open(found?.schema?.root.properties);
      await runLines(lines, options.from, running);
      const { created, skipped, failedCount, next, stopped } = running.result;
      if (created + skipped + failedCount === 0 && next !== null)
        throw stopped ?? new ApiError('request_timeout', 'No line has come in time.');
      return running.result;
    },
  };
};
