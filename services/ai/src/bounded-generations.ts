import { ApiError } from '@backlot/contract';
import type { Generations } from './generations.ts';

export interface BoundedGenerations extends Generations {
  /** Resolves when no call is under way: each has stored what it used. */
  idle(): Promise<void>;
}

/**
 * Lets so many calls wait for the model at a time; each holds memory and a connection.
 * @throws ApiError overloaded past that, on either method
 */
export const boundGenerations = (
  generations: Generations,
  maxCalls: number,
): BoundedGenerations => {
  let underWay = 0;
  let onIdle = () => {};
  const enter = () => {
    if (underWay >= maxCalls) {
      throw new ApiError('overloaded', 'Too many answers are being made. Try again shortly.', {
        retryAfterSeconds: 1,
      });
    }
    underWay++;
  };
  const leave = () => {
    underWay--;
    if (underWay === 0) onIdle();
  };
  return {
    idle: () =>
      new Promise((resolve) => {
        onIdle = resolve;
        if (underWay === 0) resolve();
      }),
    async generate(asking) {
      enter();
      try {
        return await generations.generate(asking);
      } finally {
        leave();
      }
    },
    async *stream(asking) {
      enter();
      try {
        yield* generations.stream(asking);
      } finally {
        leave();
      }
    },
  };
};
