import { ApiError, type OwnerDirectory } from '@backlot/contract';

export type OwnerCheck = ReturnType<typeof createOwnerCheck>;

/** Real money is for projects whose owner has shown that their e-mail address is theirs. */
export const createOwnerCheck =
  (owners: OwnerDirectory) =>
  /** @throws ApiError owner_unverified, unavailable */
  async ({ ownerId }: { ownerId: string | null }): Promise<void> => {
    const isVerified = await owners.isVerified(String(ownerId)).catch((cause: unknown) => {
      const message = 'The owner of the project can not be looked up. Try again shortly.';
      throw new ApiError('unavailable', message, { cause, retryAfterSeconds: 2 });
    });
    if (isVerified) return;
    throw new ApiError(
      'owner_unverified',
      'Live payments begin once the owner of this project has verified their e-mail address.',
      {
        hint: 'The owner follows the link in the mail that came at sign-up, or resets the password by mail. Test keys and the test checkout work before that.',
      },
    );
  };
