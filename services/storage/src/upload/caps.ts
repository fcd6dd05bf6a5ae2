import { ApiError, storageRoutes } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import type { StorageConfig } from '../config.ts';
import type { Files } from '../files.ts';
import type { Cap } from './measure.ts';

export interface Caps {
  /** The most that this caller's file may have. */
  of(identity: Identity): Promise<Cap>;
}

const limitOf = ({ project: { settings } }: Identity): number =>
  typeof settings.maxUploadBytes === 'number'
    ? settings.maxUploadBytes
    : storageRoutes.defaultUploadBytes;

const outOfCredits = () =>
  new ApiError('out_of_credits', 'The credits left do not cover a file of this size.');

/** The project's limit, what was reserved for the call, and what is left of the quota. */
export const createCaps = (files: Files, config: Pick<StorageConfig, 'quotaBytes'>): Caps => ({
  async of(identity) {
    const limit = limitOf(identity);
    const caps: Cap[] = [
      {
        bytes: limit,
        error: () => new ApiError('body_too_large', `The file may have at most ${limit} bytes.`),
      },
    ];
    const { reservation, project } = identity;
    if (reservation && project.ownerId !== null) {
      const bytes = storageRoutes.affordableBytes(reservation.millicredits);
      caps.push({ bytes, error: outOfCredits });
    }
    const { totalBytes } = await files.totals(project.number);
    caps.push({ bytes: config.quotaBytes - totalBytes, error: files.quotaReached });
    return caps.reduce((least, each) => (each.bytes < least.bytes ? each : least));
  },
});
