import { parentPort } from 'node:worker_threads';
import type { ThreadAnswer, ThreadCall } from '../json-schema/schema-threads.ts';

const post = (answer: ThreadAnswer) => parentPort?.postMessage(answer);

/** Stands for a thread for schemas, and ends when a schema's text tells it to. */
parentPort?.on('message', ({ schema }: ThreadCall) => {
  if (schema.includes('ends at once')) process.exit(1);
  post('begun');
  const until = performance.now() + (schema.includes('ends late') ? 5000 : 0);
  while (performance.now() < until);
  post({ result: undefined });
  // At once: a thread that goes on to its next turn may take another call with it.
  if (schema.includes('ends')) process.exit(1);
});
