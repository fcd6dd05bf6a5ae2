import { ApiError } from '@backlot/contract';
import { type FairShares, toRequester, WaitedTooLong } from '@backlot/fair-shares';
import type { RecordUsage } from '@backlot/service';
import { callerGone, type GenerationCall } from './generation-preparer.ts';
import type { Generations } from './generations.ts';

export interface BoundedGenerations extends Generations {
  /** Resolves when no call is running: each has recorded its usage. */
  idle(): Promise<void>;
}

export interface Bounds {
  /** Of the calls at a time, as each holds memory and a connection. */
  places: FairShares;
  recordUsage: RecordUsage;
  /** How long a call waits for its place. Default 3,000. */
  maxWaitMs?: number;
}

/** @throws ApiError overloaded, FairShareFull */
export const boundGenerations = (
  generations: Generations,
  { places, recordUsage, maxWaitMs = 3000 }: Bounds,
): BoundedGenerations => {
  let running = 0;
  let onIdle = () => {};

  const takePlace = async ({ identity, signal }: GenerationCall) => {
    try {
      return await places.take(toRequester(identity), { signal, maxWaitMs });
    } catch (error) {
      if (signal.aborted) {
        await recordUsage(identity, 0);
        throw callerGone(error);
      }
      if (!(error instanceof WaitedTooLong)) throw error;
      throw new ApiError('overloaded', 'Too many answers are being made. Try again shortly.', {
        retryAfterSeconds: 1,
        cause: error,
      });
    }
  };

  const enter = () => {
    running++;
  };
  const leave = () => {
    running--;
    if (running === 0) onIdle();
  };

  return {
    idle: () =>
      new Promise((resolve) => {
        onIdle = resolve;
        if (running === 0) resolve();
      }),
    async generate(call) {
      enter();
      try {
        const leavePlace = await takePlace(call);
        return await generations.generate(call).finally(leavePlace);
      } finally {
        leave();
      }
    },
    async *stream(call) {
      enter();
      try {
        const leavePlace = await takePlace(call);
        try {
          yield* generations.stream(call);
        } finally {
          leavePlace();
        }
      } finally {
        leave();
      }
    },
  };
};
