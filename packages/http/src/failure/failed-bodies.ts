import { ApiError } from '@backlot/contract';
import { describeFailedBody } from './failed-body.ts';

/** Of a failure that was thrown while the body was there: what a log may know of it. */
const described = new WeakMap<Error, string>();

/** Remembers with the failure which fields the call's body had; a body that was none is not spoken of. */
export const noteFailedBody = (failure: unknown, body: unknown): void => {
  if (!(failure instanceof Error) || typeof body !== 'object' || body === null) return;
  // What others throw is answered with a sentence of our own.
  const { message, hint } =
    failure instanceof ApiError ? failure : { message: '', hint: undefined };
  const text = JSON.stringify(describeFailedBody(body, { message, hint }));
  described.set(failure, Buffer.from(text).toString('base64url'));
};

/** As the header `failureHeader` carries it. */
export const readFailedBody = (failure: unknown): string | undefined =>
  failure instanceof Error ? described.get(failure) : undefined;
