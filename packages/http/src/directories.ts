import {
  type AccountDirectory,
  type AccountSnapshot,
  authRoutes,
  type CollectionShape,
  type CreditDirectory,
  type Directories,
  type DirectoryName,
  directoryServices,
  type FileDescription,
  type FileDirectory,
  type ImageAnswer,
  type ImageDirectory,
  type Jwks,
  type KeyDirectory,
  type KeySnapshot,
  type OwnerDirectory,
  type ProjectDirectory,
  type ProjectSnapshot,
  type RoleAndGroups,
  type ServiceName,
  type SessionDirectory,
  type SessionSnapshot,
  type ShapeDirectory,
  type UserDirectory,
} from '@backlot/contract';
import {
  type IdentityKey,
  identityHeader,
  internalIdentity,
  signIdentity,
  signingKey,
} from '@backlot/identity';
import { internalCall } from './internal-only.ts';
import { createSilenceGuard, type SilenceGuard } from './server/silence.ts';

export interface HttpDirectoryOptions {
  /** Origin of the service that is asked, for example `http://projects:8087`. */
  origin: string;
  /** What this process signs with when it asks that service. */
  identityKey: IdentityKey;
  /** Epoch milliseconds. */
  now: () => number;
  /** Of that service. */
  guard?: SilenceGuard | undefined;
}

/** A caller waits for these answers, so that a slow directory must fail before the caller's own patience. */
const defaultTimeoutMs = 5000;
/** An image may wait for its turn, and takes up to ten seconds to make; a file of 10 MB comes from a store. */
const fileTimeoutMs = 20_000;

/** @param operation of the route that is asked, where it is one of the API */
type Ask = (path: string, body?: unknown, operation?: string) => Promise<Response>;

const createAsk =
  (
    { origin, identityKey, now, guard = createSilenceGuard(origin) }: HttpDirectoryOptions,
    method = 'GET',
    timeoutMs = defaultTimeoutMs,
  ): Ask =>
  async (path, body, operation) => {
    const url = new URL(path, origin);
    const call = operation ?? internalCall(method, url.pathname + url.search);
    guard.check();
    const silence = new AbortController();
    let hasAnswer = false;
    const end = guard.watch({
      hasAnswer: () => hasAnswer,
      fail: (error) => silence.abort(error),
    });
    const response = await fetch(url, {
      method,
      headers: {
        [identityHeader]: signIdentity(internalIdentity, call, identityKey, now()),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), silence.signal]),
    })
      .then((answer) => {
        hasAnswer = true;
        return answer;
      })
      .finally(end);
    if (response.status !== 200 && response.status !== 404) {
      await response.body?.cancel();
      throw new Error(`${origin}${path} answered ${response.status}.`);
    }
    return response;
  };

const jsonOrNull = async <T>(response: Response): Promise<T | null> => {
  if (response.status === 200) return (await response.json()) as T;
  await response.body?.cancel();
  return null;
};

/** Null for what is gone. @throws Error where nobody there knows the question, as an older version */
const nullWhereGone = async (response: Response): Promise<null> => {
  const { code } = (await response.json().catch(() => ({}))) as { code?: string };
  if (code === 'not_found') return null;
  throw new Error(`${response.url} is no question there.`);
};

/** The projects service asked over HTTP. */
export const createHttpProjectDirectory = (options: HttpDirectoryOptions): ProjectDirectory => {
  const ask = createAsk(options);
  return {
    findProject: async (id) =>
      jsonOrNull<ProjectSnapshot>(await ask(`/internal/projects/${encodeURIComponent(id)}`)),
    findKey: async (hash) =>
      jsonOrNull<KeySnapshot>(await ask(`/internal/keys/${encodeURIComponent(hash)}`)),
  };
};

/** The projects service asked for keys over HTTP. */
export const createHttpKeyDirectory = (options: HttpDirectoryOptions): KeyDirectory => {
  const ask = createAsk(options);
  return {
    async isLive(projectNumber, keyId) {
      const path = `/internal/live-keys/${projectNumber}/${encodeURIComponent(keyId)}`;
      const found = await jsonOrNull<{ live: boolean }>(await ask(path));
      // An older version of the service does not know the question.
      if (!found) throw new Error(`${options.origin} does not tell which keys are live.`);
      return found.live;
    },
  };
};

/** The auth service asked over HTTP. */
export const createHttpSessionDirectory = (options: HttpDirectoryOptions): SessionDirectory => {
  const ask = createAsk(options);
  return {
    async findSession(projectNumber, sessionId) {
      const response = await ask(
        `/internal/sessions/${projectNumber}/${encodeURIComponent(sessionId)}`,
      );
      const session = await jsonOrNull<SessionSnapshot & { live: boolean }>(response);
      if (session?.live !== true) return null;
      // Older versions of the service tell no role and no groups.
      const { role = 'user', groups = [], emailVerified } = session;
      return { role, groups, ...(emailVerified !== undefined && { emailVerified }) };
    },
    async jwks() {
      const { path, operationId } = authRoutes.getJwks;
      const jwks = await jsonOrNull<Jwks>(await ask(path, undefined, operationId));
      if (!jwks) throw new Error(`${options.origin} publishes no keys.`);
      return jwks;
    },
  };
};

/** The auth service asked for accounts over HTTP. */
export const createHttpAccountDirectory = (options: HttpDirectoryOptions): AccountDirectory => {
  const ask = createAsk(options);
  const askWithBody = createAsk(options, 'POST');
  return {
    async registered(projectNumber, emails) {
      const path = `/internal/accounts/${projectNumber}/registered`;
      const found = await jsonOrNull<{ emails: string[] }>(await askWithBody(path, { emails }));
      if (!found) throw new Error(`${options.origin} does not tell accounts.`);
      return found.emails;
    },
    findAccount: async (projectNumber, userId) =>
      jsonOrNull<AccountSnapshot>(
        await ask(`/internal/accounts/${projectNumber}/${encodeURIComponent(userId)}`),
      ),
  };
};

/** The auth service asked for users over HTTP. */
export const createHttpUserDirectory = (options: HttpDirectoryOptions): UserDirectory => {
  const ask = createAsk(options);
  const askWithBody = createAsk(options, 'POST');
  return {
    async findHolder(projectNumber, email) {
      const path = `/internal/users/${projectNumber}/holder`;
      const found = await jsonOrNull<{ userId: string | null }>(await askWithBody(path, { email }));
      // An older version of the service does not know the question.
      if (!found) throw new Error(`${options.origin} does not tell whose an address is.`);
      return found.userId;
    },
    async findRoleAndGroups(projectNumber, userId) {
      const path = `/internal/users/${projectNumber}/${encodeURIComponent(userId)}`;
      const response = await ask(path);
      if (response.status === 404) return nullWhereGone(response);
      return (await response.json()) as RoleAndGroups;
    },
  };
};

/** The projects service asked to load credits over HTTP. */
export const createHttpCreditDirectory = (options: HttpDirectoryOptions): CreditDirectory => {
  const ask = createAsk(options, 'POST');
  const post = async (ownerId: string, what: string, body: unknown) => {
    const response = await ask(`/internal/credits/${encodeURIComponent(ownerId)}/${what}`, body);
    await response.body?.cancel();
    if (response.status !== 200) throw new Error(`${options.origin} knows no such owner.`);
  };
  return {
    loadOwner: (ownerId, project) => post(ownerId, 'load', project),
    noteRefusal: (ownerId, refusal) => post(ownerId, 'refusals', refusal),
  };
};

/** The projects service asked for owners over HTTP. */
export const createHttpOwnerDirectory = (options: HttpDirectoryOptions): OwnerDirectory => {
  const ask = createAsk(options);
  return {
    async isVerified(ownerId) {
      const answer = await jsonOrNull<{ verified: boolean }>(
        await ask(`/internal/owners/${encodeURIComponent(ownerId)}`),
      );
      return answer?.verified === true;
    },
  };
};

/** The records service asked for the shape of collections over HTTP. */
export const createHttpShapeDirectory = (options: HttpDirectoryOptions): ShapeDirectory => {
  const ask = createAsk(options, 'POST');
  return {
    async describe(asking) {
      const shapes = await jsonOrNull<CollectionShape[]>(await ask('/internal/shapes', asking));
      if (!shapes) throw new Error(`${options.origin} tells no shapes.`);
      return shapes;
    },
  };
};

/** The storage service asked for images over HTTP. */
export const createHttpImageDirectory = (options: HttpDirectoryOptions): ImageDirectory => {
  const ask = createAsk(options, 'POST', fileTimeoutMs);
  return {
    async readImage(asking) {
      const answer = await jsonOrNull<ImageAnswer>(await ask('/internal/images', asking));
      if (!answer) throw new Error(`${options.origin} tells no images.`);
      return answer;
    },
  };
};

/** The storage service asked for files over HTTP. */
export const createHttpFileDirectory = (options: HttpDirectoryOptions): FileDirectory => {
  const ask = createAsk(options, 'POST', fileTimeoutMs);
  const path = '/internal/files';
  return {
    async describeFiles(asking) {
      const files = await jsonOrNull<FileDescription[]>(await ask(path, asking));
      if (!files) throw new Error(`${options.origin} describes no files.`);
      return files;
    },
    async readFile(projectNumber, fileId) {
      const response = await ask(`${path}/content`, { projectNumber, fileId });
      if (response.status === 404) return nullWhereGone(response);
      return new Uint8Array(await response.arrayBuffer());
    },
  };
};

const httpDirectories: {
  [Name in DirectoryName]: (options: HttpDirectoryOptions) => Directories[Name];
} = {
  projects: createHttpProjectDirectory,
  keys: createHttpKeyDirectory,
  credits: createHttpCreditDirectory,
  owners: createHttpOwnerDirectory,
  accounts: createHttpAccountDirectory,
  sessions: createHttpSessionDirectory,
  users: createHttpUserDirectory,
  shapes: createHttpShapeDirectory,
  images: createHttpImageDirectory,
  files: createHttpFileDirectory,
};

/**
 * The directories of these names, of services that are processes of their own.
 * @param guards by service; a directory without one makes its own
 * @throws RangeError without a key to sign with
 */
export const createHttpDirectories = <Name extends DirectoryName>(
  names: readonly Name[],
  origins: Readonly<Partial<Record<ServiceName, string>>>,
  { identityKeys, now }: { identityKeys: readonly IdentityKey[]; now: () => number },
  guards: Partial<Record<ServiceName, SilenceGuard>> = {},
): Pick<Directories, Name> => {
  const entries = names.map((name) => {
    const service = directoryServices[name];
    const origin = origins[service];
    if (origin === undefined) throw new Error(`Where ${service} is reached is not given.`);
    const identityKey = signingKey(identityKeys, service);
    return [name, httpDirectories[name]({ origin, identityKey, now, guard: guards[service] })];
  });
  return Object.fromEntries(entries) as Pick<Directories, Name>;
};
