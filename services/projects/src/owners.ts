import { type AccountDirectory, ApiError, platformProject } from '@backlot/contract';

export interface OwnersDeps {
  accounts: Pick<AccountDirectory, 'findAccount'>;
  isVerificationOn: boolean;
}

export type Owners = ReturnType<typeof createOwners>;

/** What auth says of owners. Never asked within a transaction: it may wait for another process. */
export const createOwners = ({ accounts, isVerificationOn }: OwnersDeps) => {
  const find = (ownerId: string) =>
    accounts.findAccount(platformProject.number, ownerId).catch((cause: unknown) => {
      const message = 'Owners can not be looked up right now. Try again shortly.';
      throw new ApiError('unavailable', message, { cause, retryAfterSeconds: 2 });
    });

  return {
    /** @throws ApiError not_found, unavailable */
    async check(ownerId: string): Promise<void> {
      if (!(await find(ownerId))) throw new ApiError('not_found', 'There is no such owner.');
    },

    /** Null where the account is gone. @throws ApiError unavailable */
    find,

    /** Whether the owner counts as verified: all do where verification is off. @throws ApiError unavailable */
    isVerified: async (ownerId: string): Promise<boolean> =>
      !isVerificationOn || (await find(ownerId))?.emailVerified === true,
  };
};
