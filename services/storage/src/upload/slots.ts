import { ApiError } from '@backlot/contract';
import type { StorageConfig } from '../config.ts';

/** Bodies that this process takes at a time, whatever the route. */
export interface Slots {
  /** @throws ApiError overloaded where all are taken */
  run<T>(work: () => Promise<T>): Promise<T>;
}

export const createSlots = ({ maxUploads }: Pick<StorageConfig, 'maxUploads'>): Slots => {
  let underWay = 0;
  return {
    async run(work) {
      if (underWay >= maxUploads)
        throw new ApiError('overloaded', 'Too many uploads at a time. Try again shortly.', {
          retryAfterSeconds: 2,
        });
      underWay++;
      try {
        return await work();
      } finally {
        underWay--;
      }
    },
  };
};
