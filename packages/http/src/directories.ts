import {
  type AccountDirectory,
  type AccountSnapshot,
  type CreditDirectory,
  type Directories,
  type DirectoryName,
  directoryServices,
  type Jwks,
  type KeySnapshot,
  type OwnerDirectory,
  type ProjectDirectory,
  type ProjectSnapshot,
  type ServiceName,
  type SessionDirectory,
} from '@backlot/contract';
import {
  type IdentitySecret,
  identityHeader,
  internalIdentity,
  signIdentity,
} from '@backlot/identity';

export interface HttpDirectoryOptions {
  /** Origin of the service that is asked, for example `http://projects:8087`. */
  origin: string;
  identitySecret: IdentitySecret;
  /** Epoch milliseconds. */
  now: () => number;
}

/** A caller waits for these answers, so that a slow directory must fail before the caller's own patience. */
const timeoutMs = 5000;

type Ask = (path: string, body?: unknown) => Promise<Response>;

const createAsk =
  ({ origin, identitySecret, now }: HttpDirectoryOptions, method = 'GET'): Ask =>
  async (path, body) => {
    const response = await fetch(origin + path, {
      method,
      headers: {
        [identityHeader]: signIdentity(internalIdentity, identitySecret, now()),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
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

/** The auth service asked over HTTP. */
export const createHttpSessionDirectory = (options: HttpDirectoryOptions): SessionDirectory => {
  const ask = createAsk(options);
  return {
    async isLive(projectNumber, sessionId) {
      const response = await ask(
        `/internal/sessions/${projectNumber}/${encodeURIComponent(sessionId)}`,
      );
      return (await jsonOrNull<{ live: boolean }>(response))?.live === true;
    },
    async jwks() {
      const jwks = await jsonOrNull<Jwks>(await ask('/auth/.well-known/jwks.json'));
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

/** The projects service asked to load credits over HTTP. */
export const createHttpCreditDirectory = (options: HttpDirectoryOptions): CreditDirectory => {
  const ask = createAsk(options, 'POST');
  return {
    async loadOwner(ownerId) {
      const response = await ask(`/internal/credits/${encodeURIComponent(ownerId)}/load`);
      await response.body?.cancel();
      if (response.status !== 200) throw new Error(`${options.origin} knows no such owner.`);
    },
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

const httpDirectories: {
  [Name in DirectoryName]: (options: HttpDirectoryOptions) => Directories[Name];
} = {
  projects: createHttpProjectDirectory,
  credits: createHttpCreditDirectory,
  owners: createHttpOwnerDirectory,
  accounts: createHttpAccountDirectory,
  sessions: createHttpSessionDirectory,
};

/** The directories of these names, of services that are processes of their own. */
export const createHttpDirectories = <Name extends DirectoryName>(
  names: readonly Name[],
  origins: Readonly<Partial<Record<ServiceName, string>>>,
  options: Omit<HttpDirectoryOptions, 'origin'>,
): Pick<Directories, Name> => {
  const entries = names.map((name) => {
    const service = directoryServices[name];
    const origin = origins[service];
    if (origin === undefined) throw new Error(`Where ${service} is reached is not given.`);
    return [name, httpDirectories[name]({ ...options, origin })];
  });
  return Object.fromEntries(entries) as Pick<Directories, Name>;
};
