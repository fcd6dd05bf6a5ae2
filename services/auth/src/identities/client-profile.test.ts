import type { GuardedFetch } from '@backlot/outgoing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { createOauthBed, locationOf, newVerifier, type OauthBed } from '../testing/oauth-bed.ts';
import { publishedDocuments } from '../testing/published-documents.ts';

type Keys = Awaited<ReturnType<typeof generateKeyPair>>;

const issuer = 'https://accounts.google.com';
const people = 'https://openidconnect.googleapis.com/v1/userinfo';

/** Modules of the OpenID Foundation's suite for clients, by what it calls them (docs/decisions/0057). */
describe('of the basic client profile', () => {
  let bed: OauthBed;
  let own: Keys;
  let second: Keys;
  const answers = new Map<string, unknown>();
  const asked: { url: string; authorization: string | undefined }[] = [];
  const askProviders: GuardedFetch = async (url, { headers = {} }) => {
    asked.push({ url, authorization: headers.authorization });
    const body = answers.get(url) ?? publishedDocuments[url];
    return new Response(JSON.stringify(body), {
      status: body === undefined ? 404 : 200,
      headers: { 'content-type': 'application/json' },
    });
  };
  beforeAll(async () => {
    [own, second] = [await generateKeyPair('RS256'), await generateKeyPair('RS256')];
    bed = await createOauthBed({ askProviders }, { hasLocal: false });
  });
  afterAll(() => bed.close());

  const jwk = async (keys: Keys, kid: string | undefined) => ({
    ...(await exportJWK(keys.publicKey)),
    alg: 'RS256',
    use: 'sig',
    ...(kid !== undefined && { kid }),
  });
  const sign =
    (keys: Keys, kid?: string) =>
    (claims: JWTPayload): Promise<string> =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'RS256', ...(kid !== undefined && { kid }) })
        .sign(keys.privateKey);

  interface Said {
    published: object[];
    toToken: (claims: JWTPayload) => Promise<string>;
    change?: object;
    userinfo?: object;
  }
  /** Each run is of another client: nothing that was published is remembered. */
  let runs = 0;
  const signIn = async ({ published, toToken, change, userinfo }: Said) => {
    const clientId = `client-${++runs}`;
    await bed.setProvider('google', { clientId, clientSecret: `secret ${runs}` });
    const { verifier, challenge } = newVerifier();
    const there = new URL(locationOf(await bed.begin({ provider: 'google', challenge })));
    const now = Math.floor(bed.clock.now() / 1000);
    const email = `profile${runs}@example.org`;
    const claims = {
      iss: issuer,
      sub: `subject ${runs}`,
      aud: clientId,
      iat: now,
      exp: now + 300,
      email,
      email_verified: true,
      nonce: there.searchParams.get('nonce'),
      ...change,
    };
    const id_token = await toToken(JSON.parse(JSON.stringify(claims)));
    answers.set('https://www.googleapis.com/oauth2/v3/certs', { keys: published });
    answers.set('https://oauth2.googleapis.com/token', {
      access_token: 'at',
      token_type: 'Bearer',
      id_token,
    });
    answers.set(people, userinfo);
    const back = new URL(String(there.searchParams.get('redirect_uri')));
    back.searchParams.set('code', 'c');
    back.searchParams.set('state', String(there.searchParams.get('state')));
    const landing = new URL(locationOf(await bed.callback(back)));
    const code = landing.searchParams.get('code');
    if (code === null) return landing.searchParams.get('error');
    const { status, body } = await bed.exchange({ code, verifier });
    return [status, body.user?.email ?? body.code];
  };
  const asUsual = async (): Promise<Said> => ({
    published: [await jwk(own, 'a')],
    toToken: sign(own, 'a'),
  });
  const signedIn = [200, expect.stringMatching(/^profile\d+@example\.org$/)];

  it.each<[string, () => Promise<Partial<Said>>]>([
    ['idtoken-sig-rs256', async () => ({})],
    [
      'kid-absent-single-jwks',
      async () => ({ published: [await jwk(own, undefined)], toToken: sign(own) }),
    ],
    [
      'signing-key-rotation',
      async () => ({
        published: [await jwk(own, 'a'), await jwk(second, 'b')],
        toToken: sign(second, 'b'),
      }),
    ],
    ['scope-userinfo-claims', async () => ({ change: { email: undefined } })],
  ])('%s is taken', async (_name, made) => {
    const email = `profile${runs + 1}@example.org`;
    const userinfo = { sub: `subject ${runs + 1}`, email, email_verified: true };
    expect(await signIn({ ...(await asUsual()), userinfo, ...(await made()) })).toEqual(signedIn);
  });

  it('userinfo-bearer-header: profiles are asked for with the token in a header', async () => {
    const email = `profile${runs + 1}@example.org`;
    const userinfo = { sub: `subject ${runs + 1}`, email, email_verified: true };
    await signIn({ ...(await asUsual()), change: { email: undefined }, userinfo });
    expect(asked.findLast(({ url }) => url === people)).toEqual({
      url: people,
      authorization: 'Bearer at',
    });
  });

  it.each<[string, () => Promise<Partial<Said>>]>([
    [
      'idtoken-sig-none',
      async () => ({ toToken: async (claims) => new UnsecuredJWT(claims).encode() }),
    ],
    ['invalid-sig-rs256', async () => ({ toToken: sign(second, 'a') })],
    ['kid-unknown', async () => ({ toToken: sign(second, 'c') })],
    ['invalid-iss', async () => ({ change: { iss: 'https://evil.example' } })],
    ['missing-sub', async () => ({ change: { sub: undefined } })],
    ['missing-aud', async () => ({ change: { aud: undefined } })],
    ['invalid-aud', async () => ({ change: { aud: 'somebody-else' } })],
    ['missing-iat', async () => ({ change: { iat: undefined } })],
    ['missing-exp', async () => ({ change: { exp: undefined } })],
    ['nonce-invalid', async () => ({ change: { nonce: 'x'.repeat(43) } })],
    [
      'userinfo-invalid-sub',
      async () => ({
        change: { email: undefined },
        userinfo: { sub: 'somebody else', email: 'victim@example.org', email_verified: true },
      }),
    ],
  ])('%s signs nobody in', async (_name, made) => {
    expect(await signIn({ ...(await asUsual()), ...(await made()) })).toBe('provider_failed');
  });
});
