import { DatabaseUnavailable, StatementTimeout } from '@backlot/database';
import { type FairShares, toRequester } from '@backlot/fair-shares';
import type { Files, NewFile } from './files.ts';

export interface NewFiles {
  /** @throws what `create` of files throws, or FairShareFull, or the signal's reason */
  create(file: NewFile, signal: AbortSignal): Promise<void>;
  /** Runs work that makes a file in a transaction of its own, once it is its caller's turn. */
  inTurn: FairShares['run'];
}

/** Files of one transaction at most. */
const maxTogether = 8;

interface Waiting {
  file: NewFile;
  /** Aborted when another's turn has taken it along. */
  taken: AbortController;
  resolve(): void;
  reject(error: unknown): void;
}

/** Whether it was done is not known, or trying again would only wait as long. */
const isLost = (error: unknown) =>
  error instanceof DatabaseUnavailable || error instanceof StatementTimeout;

/**
 * Files of a project become rows one transaction after the other, under the lock that counts its quota. Whoever's turn
 * it is takes along what else waits, the oldest first; the turns are shared fairly. Where the transaction fails, each
 * is tried by itself, so that nobody's call fails for another's.
 */
export const createNewFiles = (files: Pick<Files, 'create'>, turns: FairShares): NewFiles => {
  const waiting = new Map<number, Set<Waiting>>();

  /** Answers whether it was still waiting. */
  const leave = (one: Waiting): boolean => {
    const { number } = one.file.identity.project;
    const left = waiting.get(number);
    const wasWaiting = left?.delete(one) ?? false;
    if (left?.size === 0) waiting.delete(number);
    return wasWaiting;
  };

  const takeAlong = (one: Waiting): Waiting[] => {
    const others = [...(waiting.get(one.file.identity.project.number) ?? [])];
    const along = others.slice(0, maxTogether - 1);
    for (const other of along) {
      leave(other);
      other.taken.abort();
    }
    return [one, ...along];
  };

  const write = async (all: readonly Waiting[]): Promise<void> => {
    const [first] = all;
    if (!first) return;
    try {
      const newFiles = all.map(({ file }) => file);
      await files.create(first.file.identity.project, newFiles);
      for (const { resolve } of all) resolve();
    } catch (error) {
      if (all.length === 1 || isLost(error)) for (const { reject } of all) reject(error);
      else for (const one of all) await write([one]);
    }
  };

  return {
    inTurn: turns.run,
    create: (file, signal) =>
      new Promise((resolve, reject) => {
        const one = { file, taken: new AbortController(), resolve, reject };
        const { identity } = file;
        const others = waiting.get(identity.project.number) ?? new Set();
        waiting.set(identity.project.number, others.add(one));
        const work = async () => {
          if (leave(one)) await write(takeAlong(one));
        };
        turns
          .run(toRequester(identity), work, { signal: AbortSignal.any([signal, one.taken.signal]) })
          .catch((error: unknown) => {
            if (leave(one)) reject(error);
          });
      }),
  };
};
