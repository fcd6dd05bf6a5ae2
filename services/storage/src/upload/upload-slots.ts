import { ApiError } from '@backlot/contract';
import type { StorageConfig } from '../config.ts';

/** Bounds the bodies that this process receives at a time; one project may have half of them. */
export interface UploadSlots {
  /** @throws ApiError overloaded where all are taken */
  run<T>(projectNumber: number, work: () => Promise<T>): Promise<T>;
}

export const createUploadSlots = ({
  maxUploads,
}: Pick<StorageConfig, 'maxUploads'>): UploadSlots => {
  const maxOfProject = Math.ceil(maxUploads / 2);
  const countByProject = new Map<number, number>();
  let count = 0;
  return {
    async run(projectNumber, work) {
      const ofProject = countByProject.get(projectNumber) ?? 0;
      if (count >= maxUploads || ofProject >= maxOfProject)
        throw new ApiError('overloaded', 'Too many uploads at a time. Try again shortly.', {
          retryAfterSeconds: 2,
        });
      count++;
      countByProject.set(projectNumber, ofProject + 1);
      try {
        return await work();
      } finally {
        count--;
        const left = (countByProject.get(projectNumber) ?? 1) - 1;
        if (left > 0) countByProject.set(projectNumber, left);
        else countByProject.delete(projectNumber);
      }
    },
  };
};
