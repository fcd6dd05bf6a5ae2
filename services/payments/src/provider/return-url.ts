import { ApiError } from '@backlot/contract';

const isLoopback = (hostname: string) =>
  hostname === '[::1]' || /^(.+\.)?localhost$|^127(\.\d+){3}$/.test(hostname);

/** @throws ApiError invalid_body where the project lists origins, and this is neither one of them nor the payer's own machine */
export const checkReturnUrl = (
  returnUrl: string,
  allowedOrigins: readonly string[] | undefined,
): void => {
  const { origin, hostname } = new URL(returnUrl);
  if (!allowedOrigins?.length || allowedOrigins.includes(origin) || isLoopback(hostname)) return;
  throw new ApiError('invalid_body', '"returnUrl": the project does not allow this origin.', {
    hint: 'Add it to the setting allowedOrigins, or return to one that is listed.',
  });
};

/** Whether payers may be sent there at once: proven or listed by the project, ours, or the payer's own machine. */
export const isTrustedOrigin = (
  returnUrl: string,
  { trustedOrigins, publicUrl }: { trustedOrigins: readonly string[]; publicUrl: string },
): boolean => {
  const { origin, hostname } = new URL(returnUrl);
  return (
    isLoopback(hostname) || origin === new URL(publicUrl).origin || trustedOrigins.includes(origin)
  );
};

/** Added by an earlier payment, whose landing page is now the returnUrl. */
const isStale = (parameter: string) => /^(session_id=.*|canceled=1)$/.test(parameter);

/**
 * Where the payer lands: the returnUrl with `session_id`, which replaces an earlier one; its own query and
 * hash stay byte for byte.
 * @param sessionId not escaped
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
  const own = query.split('&').filter((parameter) => parameter !== '' && !isStale(parameter));
  const added = [`session_id=${sessionId}`, ...(outcome === 'canceled' ? ['canceled=1'] : [])];
  return `${path}?${[...own, ...added].join('&')}${hash}`;
};
