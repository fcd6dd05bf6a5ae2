import type { ProjectDirectory } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { createGuardedFetch, type GuardedFetch, systemNames } from '@backlot/outgoing';
import { createSealer } from '@backlot/sealing';
import type { Logger } from '@backlot/telemetry';
import type { AuthConfig } from '../config.ts';
import { createFlows, type Flows } from '../oauth/flows.ts';
import { createHandovers, type Handovers } from '../oauth/handovers.ts';
import { createOauth, type Oauth } from '../oauth/oauth.ts';
import { createOpenId } from '../oauth/open-id.ts';
import { createProviderClients, type ProviderClients } from '../oauth/provider-clients.ts';
import { createIdentities, type Identities } from './identities.ts';
import { createWaysIn, type WaysIn } from './ways-in.ts';

/** Of a provider's answer, keys and profiles included. */
const maxAnswerBytes = 64 * 1024;
const timeoutMs = 8000;

export interface OauthFeatures {
  flows: Flows;
  handovers: Handovers;
  identities: Identities;
  oauth: Oauth;
  providerClients: ProviderClients;
  waysIn: WaysIn;
}

export interface OauthFeatureOptions {
  config: AuthConfig;
  database: Database;
  projects: ProjectDirectory;
  now: () => number;
  log: Logger;
  /** The guarded one unless a test brings its own. */
  askProviders?: GuardedFetch | undefined;
}

/** Sign-in by accounts elsewhere. */
export const createOauthFeatures = (options: OauthFeatureOptions): OauthFeatures => {
  const { config, database, now } = options;
  const sealer = createSealer(config.secretsKeys);
  const allowsLoopback = config.issuersOnLoopback;
  const fetch =
    options.askProviders ??
    createGuardedFetch({
      names: systemNames,
      allowsLoopback,
      timeoutMs,
      maxBytes: maxAnswerBytes,
    });
  const flows = createFlows({ database, sealer, now });
  const providerClients = createProviderClients({ database, sealer, config, now });
  const openId = createOpenId({ fetch, allowsLoopback, now });
  const identities = createIdentities(database, now);
  return {
    flows,
    handovers: createHandovers(database, now),
    identities,
    oauth: createOauth({ ...options, flows, clients: providerClients, openId }),
    providerClients,
    waysIn: createWaysIn({ identities, providerClients }),
  };
};
