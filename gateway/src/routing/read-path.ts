import { ApiError, emailRoutes } from '@backlot/contract';

/** Where a call goes. `path` is below the plane's base; percent-encoding is canonical. */
export interface CallPath {
  plane: 'runtime' | 'platform';
  /** Of the address; empty on the control plane. */
  projectId: string;
  path: string;
  /** With its question mark, or empty. */
  search: string;
}

const runtimeBase = '/api/runtime/';
const platformBase = '/api/platform';
const { mailboxBase } = emailRoutes;

/** Nothing in such a path could be read differently by the gateway and by a service. */
const plainPath = /^(?:\/[A-Za-z0-9_~-][A-Za-z0-9_.~-]*)+$/;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const unreadable = /[\0-\x1f\x7f]/;

const encodeBytes = (text: string) =>
  text.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);

const canonicalSegment = (segment: string): string => {
  let decoded: string;
  try {
    decoded = decodeURIComponent(segment);
  } catch (cause) {
    throw new ApiError('invalid_path', 'The path is not valid percent-encoded UTF-8.', { cause });
  }
  if (decoded === '.' || decoded === '..' || unreadable.test(decoded)) {
    throw new ApiError(
      'invalid_path',
      'The path may not hold control characters or the segments "." and "..".',
    );
  }
  return encodeURIComponent(decoded);
};

/** Each segment decoded once and encoded again, so that one meaning has one spelling. */
const canonicalPath = (path: string): string =>
  plainPath.test(path) ? path : encodeBytes(path).split('/').map(canonicalSegment).join('/');

/** RFC 9112, section 3.2.2: a server also takes `GET http://host/path`. */
const originForm = (url: string): string => {
  if (url.startsWith('/')) return url;
  const rest = url.replace(/^https?:\/\/[^/?#]*/i, '');
  return rest.startsWith('/') ? rest : `/${rest}`;
};

const splitProject = (path: string, base: string) => {
  const [projectId = ''] = path.slice(base.length).split('/', 1);
  return { projectId, rest: path.slice(base.length + projectId.length) };
};

/** At a host name of its own a project's calls are below /api, and where they are at every other one. */
const readAtHost = (projectId: string, path: string, search: string): CallPath | null => {
  const usual = `${runtimeBase}${projectId}`;
  const base = path === usual || path.startsWith(`${usual}/`) ? usual : '/api';
  return { plane: 'runtime', projectId, path: path.slice(base.length) || '/', search };
};

/**
 * Reads the address of a call; null when it is not one of the API's.
 * @param hostProject whose host name the call came to, if it is a project's
 * @throws ApiError invalid_path for what can't be decoded or would be read in two ways
 */
export const readPath = (rawUrl: string, hostProject?: string): CallPath | null => {
  const url = originForm(rawUrl);
  if (!url.startsWith('/api/') && !url.startsWith(mailboxBase)) return null;
  if (url.includes('#')) throw new ApiError('invalid_path', 'An address may not hold "#".');
  const mark = url.indexOf('?');
  const search = mark < 0 ? '' : encodeBytes(url.slice(mark));
  const path = canonicalPath(mark < 0 ? url : url.slice(0, mark));
  if (hostProject !== undefined)
    return path.startsWith('/api/') ? readAtHost(hostProject, path, search) : null;
  if (path.startsWith(runtimeBase)) {
    const { projectId, rest } = splitProject(path, runtimeBase);
    return { plane: 'runtime', projectId, path: rest || '/', search };
  }
  if (path.startsWith(mailboxBase)) {
    const { projectId, rest } = splitProject(path, mailboxBase);
    return { plane: 'runtime', projectId, path: `/mailbox${rest}`, search };
  }
  if (path.startsWith(`${platformBase}/`)) {
    return { plane: 'platform', projectId: '', path: path.slice(platformBase.length), search };
  }
  return null;
};
