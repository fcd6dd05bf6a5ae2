import { ApiError } from '@backlot/contract';
import type { Generations } from './generations.ts';

/**
 * Lets so many calls wait for the model at a time; each holds memory and a connection.
 * @throws ApiError overloaded past that, on either method
 */
export const boundGenerations = (generations: Generations, maxCalls: number): Generations => {
  let underWay = 0;
  const enter = () => {
    if (underWay >= maxCalls) {
      throw new ApiError('overloaded', 'Too many answers are being made. Try again shortly.', {
        retryAfterSeconds: 1,
      });
    }
    underWay++;
  };
  return {
    async generate(asking) {
      enter();
      try {
        return await generations.generate(asking);
      } finally {
        underWay--;
      }
    },
    async *stream(asking) {
      enter();
      try {
        yield* generations.stream(asking);
      } finally {
        underWay--;
      }
    },
  };
};
