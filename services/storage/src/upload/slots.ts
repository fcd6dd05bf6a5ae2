import { ApiError } from '@backlot/contract';
import type { StorageConfig } from '../config.ts';

/** Bodies that this process takes at a time, whatever the route; one project may have half of them. */
export interface Slots {
  /** @throws ApiError overloaded where all are taken */
  run<T>(projectNumber: number, work: () => Promise<T>): Promise<T>;
}

export const createSlots = ({ maxUploads }: Pick<StorageConfig, 'maxUploads'>): Slots => {
  const mostOfOne = Math.ceil(maxUploads / 2);
  const ofProject = new Map<number, number>();
  let underWay = 0;
  return {
    async run(projectNumber, work) {
      const own = ofProject.get(projectNumber) ?? 0;
      if (underWay >= maxUploads || own >= mostOfOne)
        throw new ApiError('overloaded', 'Too many uploads at a time. Try again shortly.', {
          retryAfterSeconds: 2,
        });
      underWay++;
      ofProject.set(projectNumber, own + 1);
      try {
        return await work();
      } finally {
        underWay--;
        const left = (ofProject.get(projectNumber) ?? 1) - 1;
        if (left > 0) ofProject.set(projectNumber, left);
        else ofProject.delete(projectNumber);
      }
    },
  };
};
