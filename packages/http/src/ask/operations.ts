import type {
  ParkedEvent,
  ParkedEventContent,
  ReplayOutcome,
  SealCounts,
  ServiceOperations,
} from '@backlot/contract';
import { createAsk, type HttpDirectoryOptions, jsonOrNull } from './ask.ts';

/** A service asked over HTTP for what the operator does in each. */
export const createHttpOperations = (options: HttpDirectoryOptions): ServiceOperations => {
  const ask = createAsk(options, 'POST');
  const post = async <T>(path: string, body: unknown): Promise<T> => {
    const answer = await jsonOrNull<{ answer: T }>(await ask(`/internal/operations/${path}`, body));
    // An older version of the service does not know the question.
    if (!answer) throw new Error(`${options.origin} knows no operations.`);
    return answer.answer;
  };
  return {
    listParked: (asking) => post<ParkedEvent[]>('list-parked', asking),
    showParked: (id) => post<ParkedEventContent | null>('show-parked', { id }),
    replayParked: (id) => post<ReplayOutcome>('replay-parked', { id }),
    dropParked: (id) => post<boolean>('drop-parked', { id }),
    countSealed: () => post<SealCounts>('count-sealed', {}),
    reseal: () => post<SealCounts & { resealed: number }>('reseal', {}),
  };
};
