import { createHash } from 'node:crypto';
import { ApiError } from '@backlot/contract';
import { FairShareFull, outsideCalls, type Requester } from '@backlot/fair-shares';
import { type GuardedFetch, refusal } from '@backlot/outgoing';
import { LRUCache } from 'lru-cache';
import * as client from 'openid-client';
import { isKeyFile, signAppleSecret } from './apple-secret.ts';
import { type KnownProvider, openIdProvider } from './known-providers.ts';
import { NotVouched, type ProvedIdentity, readAppleName, readClaims } from './profiles.ts';

/** A client at a provider, of a project or of the operator. */
export interface ProviderClient {
  name: string;
  label: string;
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Of apple, where the secret is a key. */
  teamId?: string | undefined;
  keyId?: string | undefined;
  known?: KnownProvider | undefined;
  /** Where the provider leads the browser back to. */
  callbackUrl: string;
}

/** What belongs to one way to a provider and back. */
export interface FlowSecrets {
  verifier: string;
  nonce: string;
}

/** As the browser brings it: RFC 6749, 4.1.2, and RFC 9207. */
export interface ProviderAnswer {
  state?: string | undefined;
  code?: string | undefined;
  error?: string | undefined;
  error_description?: string | undefined;
  iss?: string | undefined;
  /** Of Apple. */
  user?: string | undefined;
}

/** The user has not consented. */
export class ConsentRefused extends Error {
  override readonly name = 'ConsentRefused';
}

export interface OpenIdOptions {
  fetch: GuardedFetch;
  /** Issuers on this machine, over http too: where developers work. */
  allowsLoopback: boolean;
  now: () => number;
}

/** What a provider publishes is asked for again after so long. */
const publishedMs = 10 * 60 * 1000;
/** Each holds two answers, of which owners name the senders. */
const maxPublished = 200;
const timeoutSeconds = 8;
/** Ways to providers under way in one process; each waits for somebody else's server. */
const callsAtOnce = 24;

const unreachable = (label: string, cause: unknown) =>
  new ApiError('upstream_failed', `${label} does not answer as an OpenID provider does.`, {
    cause,
    hint: 'Its issuer has to publish /.well-known/openid-configuration at a public https address.',
  });

/** All that is said with providers; whom one vouches for. Knows no project and no account. */
export const createOpenId = ({ fetch, allowsLoopback, now }: OpenIdOptions) => {
  const configurations = new LRUCache<string, client.Configuration>({
    max: maxPublished,
    ttl: publishedMs,
  });
  const calls = outsideCalls({ places: callsAtOnce });
  const customFetch = fetch as unknown as client.CustomFetch;

  const inTurn = async <T>(requester: Requester, work: () => Promise<T>): Promise<T> => {
    try {
      return await calls.run(requester, work);
    } catch (error) {
      if (!(error instanceof FairShareFull)) throw error;
      throw new ApiError('overloaded', 'Too many sign-ins are under way. Try again shortly.', {
        cause: error,
        retryAfterSeconds: error.retryAfterSeconds,
      });
    }
  };

  const secretOf = async (provider: ProviderClient): Promise<string> => {
    const { clientSecret: key, clientId, teamId, keyId, known } = provider;
    if (!known?.signsSecret || !isKeyFile(key)) return key;
    return signAppleSecret({ key, clientId, teamId: teamId ?? '', keyId: keyId ?? '' }, now());
  };

  const discover = async (provider: ProviderClient, auth: client.ClientAuth) => {
    const { issuer, clientId, known } = provider;
    if (known?.metadata) {
      const configured = new client.Configuration(known.metadata, clientId, {}, auth);
      configured[client.customFetch] = customFetch;
      return configured;
    }
    const isPlain = issuer.startsWith('http:');
    const found = await client.discovery(new URL(issuer), clientId, {}, auth, {
      [client.customFetch]: customFetch,
      ...(isPlain && allowsLoopback && { execute: [client.allowInsecureRequests] }),
    });
    // Else a token that came straight from the provider is believed without a look at its signature.
    client.enableNonRepudiationChecks(found);
    return found;
  };

  const configure = async (provider: ProviderClient): Promise<client.Configuration> => {
    const { issuer, clientId, clientSecret, known } = provider;
    const digest = createHash('sha256').update(clientSecret).digest('base64');
    const key = JSON.stringify([issuer, clientId, digest]);
    const cached = configurations.get(key);
    if (cached) return cached;
    const configured = await discover(provider, client.ClientSecretPost(await secretOf(provider)));
    configured.timeout = timeoutSeconds;
    // A signed secret ends sooner than what was published.
    if (!known?.signsSecret) configurations.set(key, configured);
    return configured;
  };

  /** @throws ApiError upstream_failed, overloaded */
  const reach = async (provider: ProviderClient): Promise<client.Configuration> => {
    try {
      const configured = await configure(provider);
      const { authorization_endpoint: page } = configured.serverMetadata();
      if (page === undefined) throw new NotVouched('The provider names no page to sign in.');
      const refused = refusal(new URL(page), allowsLoopback);
      if (refused !== undefined) throw new NotVouched(`Its page to sign in: ${refused}.`);
      return configured;
    } catch (error) {
      throw unreachable(provider.label, error);
    }
  };

  const askAs =
    (configured: client.Configuration, accessToken: string) =>
    async (url: string): Promise<unknown> => {
      const headers = new Headers({ accept: 'application/json', 'user-agent': 'Backlot' });
      const answer = await client.fetchProtectedResource(
        configured,
        accessToken,
        new URL(url),
        'GET',
        undefined,
        headers,
      );
      return answer.json();
    };

  const ask = async (
    provider: ProviderClient,
    configured: client.Configuration,
    answer: ProviderAnswer,
    { verifier, nonce }: FlowSecrets,
  ): Promise<ProvedIdentity> => {
    const { known, callbackUrl } = provider;
    const { user, ...parameters } = answer;
    const url = new URL(callbackUrl);
    for (const [name, value] of Object.entries(parameters))
      if (value !== undefined) url.searchParams.set(name, value);
    const asksApi = known?.askProfile !== undefined;
    const tokens = await client.authorizationCodeGrant(configured, url, {
      pkceCodeVerifier: verifier,
      expectedState: answer.state ?? '',
      ...(!asksApi && { expectedNonce: nonce, idTokenExpected: true }),
    });
    if (known?.askProfile) {
      const profile = await known.askProfile(askAs(configured, tokens.access_token));
      return { issuer: provider.issuer, ...profile };
    }
    const claims = tokens.claims();
    if (!claims) throw new NotVouched('The provider sends no ID token.');
    const more = await moreClaims(configured, tokens.access_token, claims);
    const profile = (known?.readClaims ?? readClaims)({ ...more, ...claims });
    return { issuer: claims.iss, ...profile, name: profile.name ?? readAppleName(user) };
  };

  return {
    inTurn,

    /** Whether it can be asked at all. @throws ApiError upstream_failed, overloaded */
    async check(requester: Requester, provider: ProviderClient): Promise<void> {
      await inTurn(requester, () => reach(provider));
    },

    /** Where the browser is led to. @throws ApiError upstream_failed, overloaded */
    async begin(
      requester: Requester,
      provider: ProviderClient,
      state: string,
    ): Promise<{ url: string; secrets: FlowSecrets }> {
      const configured = await inTurn(requester, () => reach(provider));
      const { scope, parameters } = provider.known ?? openIdProvider;
      const verifier = client.randomPKCECodeVerifier();
      const nonce = client.randomNonce();
      const url = client.buildAuthorizationUrl(configured, {
        redirect_uri: provider.callbackUrl,
        scope,
        state,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        ...(!provider.known?.askProfile && { nonce }),
        ...parameters,
      });
      return { url: url.href, secrets: { verifier, nonce } };
    },

    /**
     * Whom the provider vouches for, by its own word: code, ID token and signature are its own, for this client
     * and this flow.
     * @throws ConsentRefused, ApiError overloaded, or what is wrong with the answer
     */
    async finish(
      requester: Requester,
      provider: ProviderClient,
      answer: ProviderAnswer,
      secrets: FlowSecrets,
    ): Promise<ProvedIdentity> {
      try {
        return await inTurn(requester, async () =>
          ask(provider, await reach(provider), answer, secrets),
        );
      } catch (error) {
        if (error instanceof client.AuthorizationResponseError && error.error === 'access_denied')
          throw new ConsentRefused('The user has not consented.', { cause: error });
        throw error;
      }
    },
  };
};

export type OpenId = ReturnType<typeof createOpenId>;

/** What stands at the provider beside the ID token, where that names no address. */
const moreClaims = async (
  configured: client.Configuration,
  accessToken: string,
  claims: client.IDToken,
): Promise<object> => {
  const hasMore = configured.serverMetadata().userinfo_endpoint !== undefined;
  if (claims.email !== undefined || !hasMore) return {};
  return client.fetchUserInfo(configured, accessToken, claims.sub);
};
