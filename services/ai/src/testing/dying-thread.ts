import { parentPort } from 'node:worker_threads';
import type { ThreadAnswer, ThreadCall } from '../json-schema/schema-threads.ts';

const post = (answer: ThreadAnswer) => parentPort?.postMessage(answer);

/** Stands for a thread for schemas, and ends or waits when a schema's text tells it to. */
parentPort?.on('message', ({ schema }: ThreadCall) => {
  if (schema.includes('ends at once')) process.exit(1);
  const before = process.threadCpuUsage();
  post({ begun: before });
  if (schema.includes('ends late')) while (process.threadCpuUsage(before).user < 3_000_000);
  const waitMs = schema.includes('waits for good') ? Number.POSITIVE_INFINITY : 600;
  if (schema.includes('waits'))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs);
  post({ result: undefined });
  // At once: a thread that goes on to its next turn may take another call with it.
  if (schema.includes('ends')) process.exit(1);
});
