import type {
  HostDirectory,
  KeyDirectory,
  KeySnapshot,
  OperatorDirectory,
  OperatorSnapshot,
  OwnerDirectory,
  ProjectDirectory,
  ProjectSnapshot,
} from '@backlot/contract';
import { createAsk, type HttpDirectoryOptions, jsonOrNull } from './ask.ts';

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

/** The projects service asked over HTTP who operates the platform. */
export const createHttpOperatorDirectory = (options: HttpDirectoryOptions): OperatorDirectory => {
  const ask = createAsk(options);
  return {
    findOperator: async (hash) =>
      jsonOrNull<OperatorSnapshot>(
        await ask(`/internal/operator-tokens/${encodeURIComponent(hash)}`),
      ),
  };
};

/** The projects service asked over HTTP which project a host name is of. */
export const createHttpHostDirectory = (options: HttpDirectoryOptions): HostDirectory => {
  const ask = createAsk(options);
  return {
    findHost: async (host) =>
      jsonOrNull<{ projectId: string }>(await ask(`/internal/hosts/${encodeURIComponent(host)}`)),
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
