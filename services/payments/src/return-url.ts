import { ApiError } from '@backlot/contract';

/** @throws ApiError invalid_body where the project lists origins and this is none of them */
export const checkReturnUrl = (
  returnUrl: string,
  allowedOrigins: readonly string[] | undefined,
): void => {
  if (!allowedOrigins?.length || allowedOrigins.includes(new URL(returnUrl).origin)) return;
  throw new ApiError('invalid_body', '"returnUrl": the project does not allow this origin.', {
    hint: 'Add it to the setting allowedOrigins, or return to one that is listed.',
  });
};

/**
 * Where the payer lands: `session_id` is added, and the address's own query and hash are kept.
 * @param sessionId stands in the address as it is
 */
export const landingUrl = (
  returnUrl: string,
  sessionId: string,
  outcome: 'done' | 'canceled',
): string => {
  const { href, hash } = new URL(returnUrl);
  const withoutHash = hash === '' ? href.replace(/#$/, '') : href.slice(0, -hash.length);
  const separator = withoutHash.includes('?') ? (/[?&]$/.test(withoutHash) ? '' : '&') : '?';
  const canceled = outcome === 'canceled' ? '&canceled=1' : '';
  return `${withoutHash}${separator}session_id=${sessionId}${canceled}${hash}`;
};
