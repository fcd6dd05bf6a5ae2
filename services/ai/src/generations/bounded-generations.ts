import { ApiError } from '@backlot/contract';
import type { Generations } from './generations.ts';

export interface BoundedGenerations extends Generations {
  /** Resolves when no call is running: each has recorded its usage. */
  idle(): Promise<void>;
}

/** At most `maxCalls` at a time, as each holds memory and a connection. @throws ApiError overloaded */
export const boundGenerations = (
  generations: Generations,
  maxCalls: number,
): BoundedGenerations => {
  let running = 0;
  let onIdle = () => {};
  const enter = () => {
    if (running >= maxCalls) {
      throw new ApiError('overloaded', 'Too many answers are being made. Try again shortly.', {
        retryAfterSeconds: 1,
      });
    }
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
        return await generations.generate(call);
      } finally {
        leave();
      }
    },
    async *stream(call) {
      enter();
      try {
        yield* generations.stream(call);
      } finally {
        leave();
      }
    },
  };
};
