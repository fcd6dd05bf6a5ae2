import { ApiError, type ProjectDirectory, type ProjectSnapshot } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { toRequester } from '@backlot/fair-shares';
import type { Identity } from '@backlot/identity';
import type { Logger } from '@backlot/telemetry';
import type { AuthConfig } from '../config.ts';
import { type Flow, type Flows, type OauthRequest, readState } from './flows.ts';
import {
  ConsentRefused,
  type OpenId,
  type ProviderAnswer,
  type ProviderClient,
} from './open-id.ts';
import type { ProviderClients } from './provider-clients.ts';
import { addToQuery, checkReturnTo } from './return-to.ts';

/** Where the browser goes on, with what the app is told there. */
export interface FinishedFlow {
  returnTo: string;
  isPopup: boolean;
  told: Readonly<Record<string, string>>;
  url: string;
}

export interface OauthOptions {
  database: Database;
  flows: Flows;
  clients: ProviderClients;
  openId: OpenId;
  projects: ProjectDirectory;
  config: Pick<AuthConfig, 'publicUrl'>;
  log: Pick<Logger, 'warn'>;
}

const unknownProvider = (name: string) =>
  new ApiError('not_found', `Nobody signs in here with "${name.slice(0, 32)}".`, {
    hint: 'GET /auth/providers lists who can; the owner of the app adds others: PUT …/auth-providers/<name>.',
  });

const badState = () =>
  new ApiError('invalid_link', 'This way to sign in was used already or is over. Begin again.');

/** A browser's way to a provider, and back to the app. */
export const createOauth = (options: OauthOptions) => {
  const { database, flows, clients, openId, projects, config, log } = options;

  /** @throws ApiError unavailable */
  const findProject = async (id: string): Promise<ProjectSnapshot | undefined> => {
    const project = await projects.findProject(id).catch((cause: unknown) => {
      throw new ApiError('unavailable', 'The project can not be looked up. Try again shortly.', {
        cause,
        retryAfterSeconds: 2,
      });
    });
    return project?.status === 'active' ? project : undefined;
  };

  /** @throws ApiError overloaded, and whatever is wrong with the provider's answer */
  const vouch = async (
    project: ProjectSnapshot,
    ip: string,
    flow: Awaited<ReturnType<Flows['take']>> & Flow,
    answer: ProviderAnswer,
    path: string,
  ): Promise<string> => {
    const client = await clients.find(project.number, flow.provider);
    // Another client would be another app: what was begun with the former one ends.
    if (client?.clientId !== flow.client_id) throw badState();
    if (new URL(client.callbackUrl).pathname !== path)
      throw new Error('The answer has come back to the address of another provider.');
    const requester = toRequester({ project, ip });
    const identity = await openId.finish(requester, client, answer, flow.secrets);
    return flows.vouch(flow, client, identity);
  };

  const explain = (error: unknown): Record<string, string> =>
    error instanceof ConsentRefused
      ? { error: 'access_denied', error_description: 'The user has not consented.' }
      : {
          error: 'provider_failed',
          error_description: 'The provider has not answered as it should. Begin again.',
        };

  return {
    /**
     * @returns where the browser is led to
     * @throws ApiError invalid_query, not_found, upstream_failed, overloaded
     */
    async begin(
      { project: { id, number, ownerId }, ip }: Identity,
      name: string,
      request: OauthRequest,
    ): Promise<string> {
      const project = await findProject(id);
      if (!project) throw unknownProvider(name);
      checkReturnTo(request.returnTo, project, config.publicUrl);
      const client = await clients.find(number, name);
      if (!client) throw unknownProvider(name);
      const state = flows.newState(id);
      const requester = toRequester({ project: { id, ownerId }, ip });
      const { url, secrets } = await openId.begin(requester, client, state);
      await flows.begin(number, client, state, { ...request, secrets });
      return url;
    },

    /** @throws ApiError invalid_query, not_found, unavailable */
    async checkReturn({ id }: Identity['project'], returnTo: string): Promise<void> {
      const project = await findProject(id);
      if (!project) throw new ApiError('not_found', 'There is no such project.');
      checkReturnTo(returnTo, project, config.publicUrl);
    },

    /**
     * The provider's answer, which names project and flow by its state; taken once.
     * @param path of the address to which it has come
     * @throws ApiError invalid_link where nobody has begun this
     */
    async finish(ip: string, answer: ProviderAnswer, path: string): Promise<FinishedFlow> {
      const { state = '' } = answer;
      const read = readState(state);
      const project = read && (await findProject(read.projectId));
      if (!project) throw badState();
      return database.inProject(project.number, async () => {
        const flow = await flows.take(project.number, state);
        if (!flow) throw badState();
        const finished = (told: Record<string, string>): FinishedFlow => ({
          returnTo: flow.return_to,
          isPopup: flow.is_popup,
          told,
          url: addToQuery(flow.return_to, told),
        });
        try {
          return finished({ code: await vouch(project, ip, flow, answer, path) });
        } catch (err) {
          if (!(err instanceof ConsentRefused))
            log.warn(
              { err, provider: flow.provider, project: project.id },
              'a provider’s answer was refused',
            );
          return finished(explain(err));
        }
      });
    },

    /** Whether a client can be used at all, before it is kept. @throws ApiError upstream_failed, overloaded */
    check: ({ project, ip }: Identity, client: ProviderClient) =>
      openId.check(toRequester({ project, ip }), client),
  };
};

export type Oauth = ReturnType<typeof createOauth>;
