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

/** First what the thread has used before it begins, then what came of it. */
export type ThreadAnswer =
  | { begun: NodeJS.CpuUsage }
  | { refused: string }
  | { failed: string }
  | { result: string | undefined };

/** Megabytes of a thread's heap; compiling 64 KB of ordinary schema stays well below. */
const maxOldGenerationSizeMb = 128;

const tooMuch = (cause: unknown) =>
  new SchemaRefused('takes too much time or memory to work with', { cause });

const isOutOfMemory = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';

type Outcome = Exclude<ThreadAnswer, { begun: NodeJS.CpuUsage }>;

/** One piece of work at a time. */
class SchemaThread {
  hasEnded = false;
  readonly #worker: Worker;
  #outcome = Promise.withResolvers<Outcome>();
  #onBegin = (_before: NodeJS.CpuUsage) => {};

  constructor(file: URL) {
    this.#worker = new Worker(file, { env: {}, resourceLimits: { maxOldGenerationSizeMb } });
    this.#worker.on('message', (answer: ThreadAnswer) => {
      if ('begun' in answer) this.#onBegin(answer.begun);
      else this.#outcome.resolve(answer);
    });
    this.#worker.on('error', (error) => this.#fail(error));
    this.#worker.on('exit', () => this.#fail(new Error('The thread has ended.')));
  }

  /** Rejects where the thread ends before it answers. */
  ask(call: ThreadCall, onBegin: (before: NodeJS.CpuUsage) => void): Promise<Outcome> {
    this.#outcome = Promise.withResolvers();
    this.#onBegin = onBegin;
    this.#worker.postMessage(call);
    return this.#outcome.promise;
  }

  /** What it has used since then; late where it is in code that can't be interrupted. */
  async cpuMs(before: NodeJS.CpuUsage): Promise<number> {
    const { user, system } = await this.#worker.cpuUsage(before);
    return (user + system) / 1000;
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

/** Of what it may use a piece of work may take so often as long: where others keep the processors busy. */
const patience = 20;
const shortestLookMs = 10;

/** Why work was ended: it has used what it may, or got too little of a processor to use that. */
type Limit = 'cpu' | 'wall';

/** Returns what ends the watch. */
const watch = (
  thread: SchemaThread,
  before: NodeJS.CpuUsage,
  limitMs: number,
  onLimit: (limit: Limit) => void,
): (() => void) => {
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  const lookAfter = (ms: number) => {
    timer = setTimeout(() => void look(), ms);
  };
  const look = async () => {
    const usedMs = await thread.cpuMs(before).catch(() => undefined);
    if (isOver || usedMs === undefined) return;
    if (usedMs >= limitMs) onLimit('cpu');
    else lookAfter(Math.max(limitMs - usedMs, shortestLookMs));
  };
  const backstop = setTimeout(() => onLimit('wall'), limitMs * patience);
  lookAfter(limitMs);
  return () => {
    isOver = true;
    clearTimeout(timer);
    clearTimeout(backstop);
  };
};

const interrupted = (message: string, cause: unknown) =>
  new ApiError('unavailable', `${message} Try again shortly.`, { cause, retryAfterSeconds: 1 });

/**
 * As many threads as there are pieces of work at once, each kept for the next one.
 * @param limitMs of a processor's time, for a piece of work
 */
export const createSchemaThreads = (file: URL, limitMs: number) => {
  const idle: SchemaThread[] = [];
  const busy = new Set<SchemaThread>();

  const take = (): SchemaThread => {
    const thread = idle.pop() ?? new SchemaThread(file);
    return thread.hasEnded ? take() : thread;
  };

  return {
    /** @throws SchemaRefused; ApiError unavailable where it could not be done in time, or the thread ended by itself */
    async run(call: ThreadCall): Promise<string | undefined> {
      const thread = take();
      busy.add(thread);
      let passed: Limit | undefined;
      let endWatch = () => {};
      const onLimit = (limit: Limit) => {
        passed = limit;
        void thread.end();
      };
      try {
        const outcome = await thread.ask(call, (before) => {
          endWatch = watch(thread, before, limitMs, onLimit);
        });
        if ('refused' in outcome) throw new SchemaRefused(outcome.refused);
        if ('failed' in outcome) throw tooMuch(outcome.failed);
        return outcome.result;
      } catch (cause) {
        if (cause instanceof SchemaRefused) throw cause;
        if (passed === 'cpu' || isOutOfMemory(cause)) throw tooMuch(cause);
        if (passed === 'wall')
          throw interrupted('The work on a schema could not be done in time.', cause);
        throw interrupted('The work on a schema was interrupted.', cause);
      } finally {
        endWatch();
        busy.delete(thread);
        if (!thread.hasEnded) idle.push(thread);
      }
    },
    async close(): Promise<void> {
      await Promise.all([...idle, ...busy].map((thread) => thread.end()));
    },
  };
};
