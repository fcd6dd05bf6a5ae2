import type { EventPayloads } from '@backlot/contract';

/** A message that may be lost. */
type Tell = <T extends 'log.watched' | 'log.written'>(topic: T, payload: EventPayloads[T]) => void;

/** How often a process says what it watches, and for how long that is believed. */
export const announceEveryMs = 5000;
const believedMs = 16_000;
/** Writes of so long are told in one message. */
const gatherMs = 10;
const maxNumbers = 1000;

export interface Wakes {
  /** Records of the project have changed, and are committed. */
  written(projectNumber: number): void;
  /** Says that this process watches the project. */
  watch(projectNumber: number): void;
  /** Says it of all that it watches. */
  announce(projectNumbers: readonly number[]): void;
  /** As far as is known. */
  isWatchedElsewhere(projectNumber: number): boolean;
  hearWatched(event: EventPayloads['log.watched']): void;
  hearWritten(event: EventPayloads['log.written']): void;
}

interface WakesDeps {
  tell: Tell;
  /** Milliseconds that only go forward. */
  now: () => number;
  /** The id of this process. */
  process: string;
  /** The log of the project may have more. */
  onWritten: (projectNumber: number) => void;
}

const inChunks = (numbers: readonly number[]): number[][] => {
  const chunks: number[][] = [];
  for (let start = 0; start < numbers.length; start += maxNumbers)
    chunks.push(numbers.slice(start, start + maxNumbers));
  return chunks;
};

/** Writers wake readers of the log in other processes, and tell nobody of projects that nobody watches. */
export const createWakes = ({ tell, now, process, onWritten }: WakesDeps): Wakes => {
  /** Until when other processes watch a project. */
  const watchedElsewhere = new Map<number, number>();
  let waiting = new Set<number>();

  const flush = () => {
    const projectNumbers = [...waiting];
    waiting = new Set();
    for (const chunk of inChunks(projectNumbers))
      tell('log.written', { process, projectNumbers: chunk });
  };

  const isWatchedElsewhere = (projectNumber: number) => {
    const until = watchedElsewhere.get(projectNumber);
    if (until === undefined) return false;
    if (until > now()) return true;
    watchedElsewhere.delete(projectNumber);
    return false;
  };

  return {
    written(projectNumber) {
      onWritten(projectNumber);
      if (!isWatchedElsewhere(projectNumber)) return;
      if (waiting.size === 0) setTimeout(flush, gatherMs).unref();
      waiting.add(projectNumber);
    },
    isWatchedElsewhere,
    watch: (projectNumber) => tell('log.watched', { process, projectNumbers: [projectNumber] }),
    announce(projectNumbers) {
      for (const chunk of inChunks(projectNumbers))
        tell('log.watched', { process, projectNumbers: chunk });
      for (const [number, until] of watchedElsewhere)
        if (until <= now()) watchedElsewhere.delete(number);
    },
    hearWatched(event) {
      if (event.process === process) return;
      const until = now() + believedMs;
      for (const number of event.projectNumbers) watchedElsewhere.set(number, until);
    },
    hearWritten(event) {
      if (event.process === process) return;
      for (const number of event.projectNumbers) onWritten(number);
    },
  };
};
