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

/** Left by an earlier payment, whose landing page has become a returnUrl. */
const isStale = (parameter: string) => /^(session_id=.*|canceled=1)$/.test(parameter);

/**
 * Where the payer lands: `session_id` is added, in place of an earlier one, and the address's own query
 * and hash are kept as they are.
 * @param sessionId stands in the address as it is
 */
export const landingUrl = (
  returnUrl: string,
  sessionId: string,
  outcome: 'done' | 'canceled',
): string => {
  const { href, hash } = new URL(returnUrl);
  const withoutHash = hash === '' ? href.replace(/#$/, '') : href.slice(0, -hash.length);
  const start = withoutHash.indexOf('?');
  const path = start === -1 ? withoutHash : withoutHash.slice(0, start);
  const query = start === -1 ? '' : withoutHash.slice(start + 1);
  const own = query.split('&').filter((each) => each !== '' && !isStale(each));
  const added = [`session_id=${sessionId}`, ...(outcome === 'canceled' ? ['canceled=1'] : [])];
  return `${path}?${[...own, ...added].join('&')}${hash}`;
};
