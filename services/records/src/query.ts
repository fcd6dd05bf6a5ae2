import { ApiError } from '@backlot/contract';
import type { Identity } from '@backlot/identity';

/** Contract section 4. */
export const maxOffset = 10_000;

/**
 * The user to whom `mine` narrows a list.
 * @throws ApiError unauthenticated where the caller is no user of the project
 */
export const ownerOf = (
  mine: string | undefined,
  { caller, userId }: Identity,
): string | undefined => {
  if (mine !== '1' && mine !== 'true') return undefined;
  if (caller === 'user' && userId !== null) return userId;
  throw new ApiError('unauthenticated', '"mine" needs the token of a signed-in user.');
};

/** @throws ApiError invalid_query */
export const checkOffset = (offset: number, cursor: string | undefined): void => {
  if (offset > maxOffset) {
    throw new ApiError(
      'invalid_query',
      `"offset": at most ${maxOffset}; use cursor to go further.`,
      {
        hint: 'Send the "nextCursor" of a page as "cursor" to get the next one.',
      },
    );
  }
  if (offset > 0 && cursor !== undefined) {
    throw new ApiError(
      'invalid_query',
      '"offset": goes with no cursor; a cursor says where the page begins.',
    );
  }
};
