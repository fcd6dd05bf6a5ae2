import {
  type AccountDirectory,
  type AccountSnapshot,
  authRoutes,
  type Jwks,
  type KnownUser,
  type PeopleDirectory,
  type Person,
  type SessionDirectory,
  type SessionSnapshot,
  type UserDirectory,
} from '@backlot/contract';
import { createAsk, type HttpDirectoryOptions, jsonOrNull, nullWhereGone } from './ask.ts';

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
      const {
        role = 'user',
        groups = [],
        emailVerified,
        blocked,
        hasSecondFactor,
        isGuest,
      } = session;
      return {
        role,
        groups,
        ...(emailVerified !== undefined && { emailVerified }),
        ...(blocked && { blocked }),
        ...(hasSecondFactor && { hasSecondFactor }),
        ...(isGuest && { isGuest }),
      };
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
      return (await response.json()) as KnownUser;
    },
  };
};

/** The auth service asked over HTTP for users as others see them. */
export const createHttpPeopleDirectory = (options: HttpDirectoryOptions): PeopleDirectory => {
  const ask = createAsk(options, 'POST');
  return {
    async findPeople(asking) {
      const people = await jsonOrNull<Person[]>(await ask('/internal/people', asking));
      // An older version of the service does not know the question.
      if (!people) throw new Error(`${options.origin} tells no people.`);
      return people;
    },
  };
};
