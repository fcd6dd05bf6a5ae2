import { ApiError, type ProjectSnapshot, platformProject } from '@backlot/contract';
import { hostName, isLoopbackHost } from '@backlot/outgoing';

/** Pages of ours on which a sign-in may end; what projects store lies under the same origin. */
const ownPages = /^\/(account|console|examples)(\/|$)/;

const isOwnPage = (url: URL, publicUrl: string) => {
  const own = new URL(publicUrl);
  return url.origin === own.origin && ownPages.test(url.pathname);
};

type Origins = Pick<ProjectSnapshot, 'id' | 'settings' | 'verifiedOrigins'>;

/**
 * Whoever is led there gets a code that signs the user in: an origin that the owner has listed or proven, a page of
 * ours, or, where a developer works, any app on the same machine.
 * @throws ApiError invalid_query
 */
export const checkReturnTo = (
  returnTo: string,
  { id, settings, verifiedOrigins = [] }: Origins,
  publicUrl: string,
): void => {
  const url = new URL(returnTo);
  const { allowedOrigins = [] } = settings;
  const own = new URL(publicUrl).origin;
  const isDeveloping =
    isLoopbackHost(hostName(own)) && isLoopbackHost(hostName(url.origin)) && url.origin !== own;
  const isListed = allowedOrigins.includes(url.origin) || verifiedOrigins.includes(url.origin);
  const isOwners = id === platformProject.id;
  if (isOwnPage(url, publicUrl) || (!isOwners && (isListed || isDeveloping))) return;
  throw new ApiError(
    'invalid_query',
    `"returnTo": the setting "allowedOrigins" of the project does not list ${url.origin}.`,
    {
      hint: `The owner of the app adds it: PATCH /api/platform/projects/${id} {"settings":{"allowedOrigins":["${url.origin}"]}}, beside those that are listed.`,
    },
  );
};

/** Of an earlier answer on the same page. */
const isStale = (parameter: string) => /^(code|error|error_description)=/.test(parameter);

/** `returnTo` with these parameters; its own query and hash stay byte for byte. */
export const addToQuery = (
  returnTo: string,
  parameters: Readonly<Record<string, string>>,
): string => {
  const { href, hash } = new URL(returnTo);
  const withoutHash = hash === '' ? href.replace(/#$/, '') : href.slice(0, -hash.length);
  const [path = '', ...query] = withoutHash.split('?');
  const own = query
    .join('?')
    .split('&')
    .filter((parameter) => parameter !== '' && !isStale(parameter));
  const added = String(new URLSearchParams(parameters));
  return `${path}?${[...own, added].join('&')}${hash}`;
};
