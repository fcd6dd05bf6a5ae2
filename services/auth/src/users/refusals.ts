import { ApiError } from '@backlot/contract';

export const unknownUser = () => new ApiError('not_found', 'There is no such user.');

export const emailTaken = () =>
  new ApiError('email_taken', 'An account with this e-mail address exists already.');

export const sessionEnded = () =>
  new ApiError('invalid_token', 'This session has ended. Sign in again.');
