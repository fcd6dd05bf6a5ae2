import { ApiError, oauthRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Features } from '../features.ts';

/** @throws ApiError invalid_path */
const readName = (given: string): string => {
  const name = oauthRoutes.providerName.safeParse(given);
  if (name.success) return name.data;
  throw new ApiError('invalid_path', `"name": ${name.error.issues[0]?.message}.`);
};

export const listSetProviders = ({ providerClients }: Features) =>
  route(oauthRoutes.listSetProviders, async ({ identity: { project } }) => ({
    body: {
      items: await providerClients.list(project.number),
      hasMore: false,
      nextCursor: null,
    },
  }));

export const setAuthProvider = ({ providerClients, oauth }: Features) =>
  route(
    oauthRoutes.setAuthProvider,
    async ({ identity, params, body }) => {
      const { number } = identity.project;
      const name = readName(params.name);
      if (body.off)
        return { transact: async () => ({ body: await providerClients.switchOff(number, name) }) };
      const client = providerClients.readChoice(name, body);
      await oauth.check(identity, client);
      return { transact: async () => ({ body: await providerClients.set(number, client) }) };
    },
    { isSlow: true },
  );

export const getAuthProvider = ({ providerClients }: Features) =>
  route(oauthRoutes.getAuthProvider, async ({ identity: { project }, params }) => ({
    body: await providerClients.get(project.number, params.name),
  }));

export const deleteAuthProvider = ({ providerClients }: Features) =>
  route(oauthRoutes.deleteAuthProvider, async ({ identity: { project }, params }) => {
    await providerClients.remove(project.number, params.name);
    return { body: { ok: true as const } };
  });
