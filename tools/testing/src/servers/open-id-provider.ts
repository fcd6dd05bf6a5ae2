import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeJwt, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import type Provider from 'oidc-provider';
import { createKeptInMemory } from './kept-in-memory.ts';

export interface ElsewherePerson {
  email?: string;
  email_verified?: boolean;
  name?: string;
}

export interface TestOpenIdProvider {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** By subject. */
  people: Map<string, ElsewherePerson>;
  /** Who is signed in there, in every browser; null: whoever comes says no. */
  signsInAs: string | null;
  /** Where it may lead browsers back to. */
  redirectUris: Set<string>;
  /** What stands in the ID tokens that it signs from now on. */
  forge: ((claims: JWTPayload) => JWTPayload) | undefined;
  /** As a browser follows the redirects of the provider: where it leads to elsewhere. */
  follow(url: string): Promise<URL>;
  stop(): Promise<void>;
}

const readBody = (req: IncomingMessage): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = '';
    req.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    req.on('end', () => resolve(text));
    req.on('error', reject);
  });

/** As a browser that has just been opened. */
const createBrowser = () => {
  const cookies = new Map<string, string>();
  return async (url: string): Promise<{ location: string | null; text: string }> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(url, { redirect: 'manual', headers: { cookie } });
    for (const set of answer.headers.getSetCookie()) {
      const [name = '', ...value] = (set.split(';')[0] ?? '').split('=');
      cookies.set(name, value.join('='));
    }
    return { location: answer.headers.get('location'), text: await answer.text() };
  };
};

/** It warns of every Node that is newer than it knows. */
const loadProvider = async (): Promise<typeof Provider> => {
  const { warn } = console;
  console.warn = () => {};
  try {
    return (await import('oidc-provider')).default;
  } finally {
    console.warn = warn;
  }
};

const maxHops = 10;

/** A certified provider (oidc-provider) in this process, where whoever comes is signed in and consents. */
export const createTestOpenIdProvider = async (): Promise<TestOpenIdProvider> => {
  const OpenIdProvider = await loadProvider();
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = { ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: 'test' };
  const clientId = `client-${randomBytes(4).toString('hex')}`;
  const clientSecret = randomBytes(24).toString('base64url');
  const people = new Map<string, ElsewherePerson>();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`;

  const Kept = createKeptInMemory();

  const open = (redirectUris: readonly string[]) =>
    new OpenIdProvider(issuer, {
      adapter: Kept,
      clients: [
        {
          client_id: clientId,
          client_secret: clientSecret,
          redirect_uris: [...redirectUris],
          token_endpoint_auth_method: 'client_secret_post',
        },
      ],
      jwks: { keys: [jwk] },
      cookies: { keys: [clientSecret] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
      conformIdTokenClaims: false,
      pkce: { required: () => true },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
      ttl: { Session: 3600, Grant: 3600, Interaction: 600, AccessToken: 600, IdToken: 600 },
      findAccount: (_ctx, sub) => ({
        accountId: sub,
        claims: async () => ({ sub, ...people.get(sub) }),
      }),
      async loadExistingGrant({ oidc }) {
        const grant = new oidc.provider.Grant({
          clientId: oidc.client?.clientId ?? '',
          accountId: oidc.session?.accountId ?? '',
        });
        grant.addOIDCScope('openid email profile');
        await grant.save();
        return grant;
      },
    });
  let opened: { provider: Provider; for: string } | undefined;
  const redirectUris = new Set<string>();
  const current = () => {
    const wanted = [...redirectUris].sort().join(' ');
    if (opened?.for !== wanted) opened = { provider: open([...redirectUris]), for: wanted };
    return opened.provider;
  };

  const self: TestOpenIdProvider = {
    issuer,
    clientId,
    clientSecret,
    people,
    signsInAs: null,
    redirectUris,
    forge: undefined,
    async follow(url) {
      const visit = createBrowser();
      let at = url;
      for (let hop = 0; hop < maxHops; hop++) {
        const { location, text } = await visit(at);
        if (location === null) throw new Error(`The provider leads nowhere: ${text}`);
        const next = new URL(location, at);
        if (next.origin !== issuer) return next;
        at = next.href;
      }
      throw new Error('The provider leads nowhere.');
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  /** The answer of the token endpoint, with another ID token under the same signature key. */
  const forgeTokens = async (text: string): Promise<string> => {
    const tokens = JSON.parse(text);
    if (!self.forge || tokens.id_token === undefined) return text;
    const claims = self.forge(decodeJwt(tokens.id_token));
    const forged = new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'test' });
    return JSON.stringify({ ...tokens, id_token: await forged.sign(privateKey) });
  };

  const passTokens = async (req: IncomingMessage, res: ServerResponse) => {
    const body = await readBody(req);
    const answer = await fetch(`${issuer}/token`, {
      method: 'POST',
      headers: { 'content-type': req.headers['content-type'] ?? '', 'x-inner': '1' },
      body,
    });
    res.writeHead(answer.status, { 'content-type': 'application/json' });
    res.end(await forgeTokens(await answer.text()));
  };

  server.on('request', (req, res) => {
    const path = req.url ?? '';
    const fail = (error: unknown) => res.writeHead(500).end(String(error));
    if (path.startsWith('/interaction/')) {
      const result =
        self.signsInAs === null
          ? { error: 'access_denied', error_description: 'No.' }
          : { login: { accountId: self.signsInAs } };
      current().interactionFinished(req, res, result).catch(fail);
    } else if (path === '/token' && !req.headers['x-inner']) passTokens(req, res).catch(fail);
    else current().callback()(req, res)?.catch?.(fail);
  });
  return self;
};
