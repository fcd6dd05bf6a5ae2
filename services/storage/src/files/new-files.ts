import { batchCalls } from '@backlot/database';
import { type FairShares, toRequester } from '@backlot/fair-shares';
import type { Files, NewFile } from './files.ts';

export interface NewFiles {
  /** @throws what `create` of files throws, or FairShareFull, or the signal's reason */
  create(file: NewFile, signal: AbortSignal): Promise<void>;
  /** Runs work that makes a file in a transaction of its own, once it is its caller's turn. */
  inTurn: FairShares['run'];
}

interface Wanted {
  file: NewFile;
  signal: AbortSignal;
}

/** Files of a project become rows together, under the lock that counts its quota. */
export const createNewFiles = (files: Pick<Files, 'create'>, turns: FairShares): NewFiles => {
  /** Answers which were made: not those whose callers have gone meanwhile. */
  const createAll = async (number: number, all: readonly Wanted[]) => {
    const wanted = all.filter(({ signal }) => !signal.aborted);
    const newFiles = wanted.map(({ file }) => file);
    if (newFiles.length > 0) await files.create({ number }, newFiles);
    return all.map((one) => wanted.includes(one));
  };
  const batched = batchCalls(createAll);

  return {
    inTurn: turns.run,
    create(file, signal) {
      const { identity } = file;
      const work = async () => {
        if (!(await batched(identity.project.number, { file, signal }))) signal.throwIfAborted();
      };
      return turns.run(toRequester(identity), work, { signal });
    },
  };
};
