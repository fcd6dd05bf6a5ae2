import { Worker } from 'node:worker_threads';
import { ApiError } from '@backlot/contract';

/** The schema can't be worked with; the message is for the developer who wrote it. */
export class SchemaRefused extends Error {
  override readonly name = 'SchemaRefused';
}

/** A piece of work on a schema, which is JSON as `value` is. */
export type ThreadCall = { schema: string } & (
  | { work: 'check' }
  | { work: 'mismatch'; value: string }
  | { work: 'example'; seed: number; maxBytes: number }
);

/** First that the work begins, then what came of it. */
export type ThreadAnswer =
  | 'begun'
  | { refused: string }
  | { failed: string }
  | { result: string | undefined };

/** Megabytes of a thread's heap; compiling 64 KB of ordinary schema stays well below. */
const maxOldGenerationSizeMb = 128;

const tooMuch = (cause: unknown) =>
  new SchemaRefused('takes too much time or memory to work with', { cause });

const isOutOfMemory = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';

type Outcome = Exclude<ThreadAnswer, 'begun'>;

/** One piece of work at a time. */
class SchemaThread {
  hasEnded = false;
  readonly #worker: Worker;
  #outcome = Promise.withResolvers<Outcome>();
  #onBegin = () => {};

  constructor(file: URL) {
    this.#worker = new Worker(file, { env: {}, resourceLimits: { maxOldGenerationSizeMb } });
    this.#worker.on('message', (answer: ThreadAnswer) => {
      if (answer === 'begun') this.#onBegin();
      else this.#outcome.resolve(answer);
    });
    this.#worker.on('error', (error) => this.#fail(error));
    this.#worker.on('exit', () => this.#fail(new Error('The thread has ended.')));
  }

  /** Rejects where the thread ends before it answers. */
  ask(call: ThreadCall, onBegin: () => void): Promise<Outcome> {
    this.#outcome = Promise.withResolvers();
    this.#onBegin = onBegin;
    this.#worker.postMessage(call);
    return this.#outcome.promise;
  }

  async end(): Promise<void> {
    this.hasEnded = true;
    await this.#worker.terminate();
  }

  #fail(error: unknown): void {
    this.hasEnded = true;
    this.#outcome.reject(error);
  }
}

/**
 * As many threads as there are pieces of work at once, each kept for the next one.
 * @param limitMs for a piece of work, from when its thread begins with it
 */
export const createSchemaThreads = (file: URL, limitMs: number) => {
  const idle: SchemaThread[] = [];
  const busy = new Set<SchemaThread>();

  const take = (): SchemaThread => {
    const thread = idle.pop() ?? new SchemaThread(file);
    return thread.hasEnded ? take() : thread;
  };

  return {
    /** @throws SchemaRefused; ApiError unavailable where something else has ended the thread */
    async run(call: ThreadCall): Promise<string | undefined> {
      const thread = take();
      busy.add(thread);
      let timer: NodeJS.Timeout | undefined;
      let isLate = false;
      const onLimit = () => {
        isLate = true;
        void thread.end();
      };
      const onBegin = () => {
        timer = setTimeout(onLimit, limitMs);
      };
      try {
        const outcome = await thread.ask(call, onBegin);
        if ('refused' in outcome) throw new SchemaRefused(outcome.refused);
        if ('failed' in outcome) throw tooMuch(outcome.failed);
        return outcome.result;
      } catch (cause) {
        if (cause instanceof SchemaRefused) throw cause;
        if (isLate || isOutOfMemory(cause)) throw tooMuch(cause);
        const message = 'The work on a schema was interrupted. Try again shortly.';
        throw new ApiError('unavailable', message, { cause, retryAfterSeconds: 1 });
      } finally {
        clearTimeout(timer);
        busy.delete(thread);
        if (!thread.hasEnded) idle.push(thread);
      }
    },
    async close(): Promise<void> {
      await Promise.all([...idle, ...busy].map((thread) => thread.end()));
    },
  };
};
