import { generateKeyPairSync } from 'node:crypto';
import type { GuardedFetch } from '@backlot/outgoing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { exportJWK, generateKeyPair, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { createOauthBed, locationOf, newVerifier, type OauthBed } from '../testing/oauth-bed.ts';
import { publishedDocuments } from '../testing/published-documents.ts';

/**
 * Google, Microsoft, Apple, GitHub and Discord have no counterpart without a network: they are tried against what
 * they publish, and answers in the shape of their documentation.
 */
describe('a known provider', () => {
  let bed: OauthBed;
  let answers: Map<string, unknown>;
  let asked: { url: string; body: URLSearchParams; authorization: string | undefined }[];
  let privateKey: CryptoKey;
  let keys: object;

  const answer = (body: unknown) =>
    new Response(JSON.stringify(body), {
      status: body === undefined ? 404 : 200,
      headers: { 'content-type': 'application/json' },
    });
  const askProviders: GuardedFetch = async (url, { body, headers = {} }) => {
    const sent = new URLSearchParams(String(body ?? ''));
    asked.push({ url, body: sent, authorization: headers.authorization });
    return answer(answers.get(url) ?? publishedDocuments[url]);
  };

  beforeAll(async () => {
    const pair = await generateKeyPair('RS256');
    privateKey = pair.privateKey;
    keys = { keys: [{ ...(await exportJWK(pair.publicKey)), alg: 'RS256', kid: 'k', use: 'sig' }] };
    asked = [];
    answers = new Map();
    bed = await createOauthBed({ askProviders }, { hasLocal: false });
  });
  afterAll(() => bed.close());
  beforeEach(() => {
    asked = [];
    answers = new Map<string, unknown>([
      ['https://www.googleapis.com/oauth2/v3/certs', keys],
      ['https://login.microsoftonline.com/common/discovery/v2.0/keys', keys],
      ['https://appleid.apple.com/auth/keys', keys],
    ]);
  });

  const client = { clientId: 'my-client', clientSecret: 'my secret' };
  const begin = async (provider: string, body: object = client) => {
    const set = await bed.setProvider(provider, body);
    expect([set.status, set.body.error]).toEqual([200, undefined]);
    const made = newVerifier();
    const there = new URL(locationOf(await bed.begin({ provider, challenge: made.challenge })));
    return { there, verifier: made.verifier };
  };
  const idToken = (claims: JWTPayload, there: URL) => {
    const now = Math.floor(bed.clock.now() / 1000);
    const nonce = there.searchParams.get('nonce');
    const all = { aud: 'my-client', iat: now, exp: now + 300, nonce, ...claims };
    return new SignJWT(all).setProtectedHeader({ alg: 'RS256', kid: 'k' }).sign(privateKey);
  };
  const tokens = (more: object) => ({ access_token: 'at', token_type: 'Bearer', ...more });
  const finish = async (
    { there, verifier }: { there: URL; verifier: string },
    more: Record<string, string> = {},
    method: 'GET' | 'POST' = 'GET',
  ) => {
    const back = new URL(String(there.searchParams.get('redirect_uri')));
    back.search = String(
      new URLSearchParams({ code: 'c', state: String(there.searchParams.get('state')), ...more }),
    );
    const landing = new URL(locationOf(await bed.callback(back, method)));
    const code = landing.searchParams.get('code');
    return code === null ? landing : bed.exchange({ code, verifier });
  };

  it('Google signs in by its ID token, whose address it has verified', async () => {
    const way = await begin('google');
    expect(way.there.href).toMatch(/^https:\/\/accounts\.google\.com\/o\/oauth2\/v2\/auth\?/);
    expect(way.there.searchParams.get('prompt')).toBe('select_account');
    const claims = { iss: 'https://accounts.google.com', sub: '1', email: 'g@gmail.com' };
    const id_token = await idToken({ ...claims, email_verified: true, name: 'G' }, way.there);
    answers.set('https://oauth2.googleapis.com/token', tokens({ id_token }));
    expect(await finish(way)).toMatchObject({
      status: 200,
      body: { isNew: true, user: { email: 'g@gmail.com', emailVerified: true, name: 'G' } },
    });
    const exchange = asked.find(({ url }) => url === 'https://oauth2.googleapis.com/token');
    expect(Object.fromEntries(exchange?.body ?? [])).toMatchObject({
      client_id: 'my-client',
      client_secret: 'my secret',
      code_verifier: expect.stringMatching(/^[\w-]{43}$/),
      redirect_uri: 'http://localhost:8080/api/runtime/platform/auth/oauth/callback',
    });
  });

  it('refuses an ID token that another key has signed', async () => {
    const way = await begin('google');
    const other = await generateKeyPair('RS256');
    const now = Math.floor(bed.clock.now() / 1000);
    const forged = await new SignJWT({
      iss: 'https://accounts.google.com',
      sub: '1',
      aud: 'my-client',
      iat: now,
      exp: now + 300,
      nonce: way.there.searchParams.get('nonce'),
    })
      .setProtectedHeader({ alg: 'RS256', kid: 'k' })
      .sign(other.privateKey);
    answers.set('https://oauth2.googleapis.com/token', tokens({ id_token: forged }));
    expect(String(await finish(way))).toContain('error=provider_failed');
  });

  it('Microsoft’s address counts where it says that the domain’s owner was verified, and not else', async () => {
    const tid = '9188040d-6c67-4c5b-b112-36a304b66dad';
    const iss = `https://login.microsoftonline.com/${tid}/v2.0`;
    const signIn = async (claims: JWTPayload) => {
      const way = await begin('microsoft');
      const id_token = await idToken({ iss, tid, ...claims }, way.there);
      const url = 'https://login.microsoftonline.com/common/oauth2/v2.0/token';
      answers.set(url, tokens({ id_token }));
      return finish(way);
    };
    const victim = await bed.signUp({ email: 'victim@contoso.example' });
    const claims = { sub: 'm1', email: 'victim@contoso.example', email_verified: true };
    expect(await signIn(claims)).toMatchObject({ status: 409, body: { code: 'email_taken' } });
    expect(await signIn({ sub: 'm2', email: 'new@contoso.example' })).toMatchObject({
      status: 200,
      body: { user: { emailVerified: false } },
    });
    const proven = { sub: 'm3', email: 'victim@contoso.example', xms_edov: true };
    expect(await signIn(proven)).toMatchObject({
      status: 200,
      body: { isNew: false, user: { id: victim.user.id, emailVerified: true } },
    });
    const other = { ...claims, iss: 'https://login.microsoftonline.com/another/v2.0' };
    expect(String(await signIn(other))).toContain('error=provider_failed');
  });

  it('Apple posts a form, says the name once, and takes a secret that was signed just now', async () => {
    const { privateKey: key, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const clientSecret = key.export({ type: 'pkcs8', format: 'pem' }) as string;
    const body = { clientId: 'my-client', clientSecret, teamId: 'TEAM', keyId: 'KEY' };
    const way = await begin('apple', body);
    expect(way.there.searchParams.get('response_mode')).toBe('form_post');
    const claims = {
      iss: 'https://appleid.apple.com',
      sub: 'a',
      email: 'x@privaterelay.appleid.com',
    };
    const id_token = await idToken({ ...claims, email_verified: 'true' }, way.there);
    answers.set('https://appleid.apple.com/auth/token', tokens({ id_token }));
    const user = JSON.stringify({ name: { firstName: 'Ada', lastName: 'Lovelace' } });
    expect(await finish(way, { user }, 'POST')).toMatchObject({
      status: 200,
      body: { user: { name: 'Ada Lovelace', emailVerified: true } },
    });
    const exchange = asked.find(({ url }) => url.endsWith('/auth/token'));
    const secret = String(exchange?.body.get('client_secret'));
    const { payload, protectedHeader } = await jwtVerify(secret, publicKey, {
      issuer: 'TEAM',
      subject: 'my-client',
      audience: 'https://appleid.apple.com',
    });
    expect(protectedHeader).toEqual({ alg: 'ES256', kid: 'KEY' });
    expect(Number(payload.exp) - Number(payload.iat)).toBe(300);
  });

  it.each([
    [true, true],
    [false, false],
  ])('GitHub’s primary address counts as verified: %s', async (verified, emailVerified) => {
    const way = await begin('github');
    answers.set('https://github.com/login/oauth/access_token', tokens({ scope: 'user:email' }));
    answers.set('https://api.github.com/user', {
      id: verified ? 1 : 2,
      login: 'octocat',
      name: null,
    });
    answers.set('https://api.github.com/user/emails', [
      { email: 'noreply@github.example', primary: false, verified: true, visibility: null },
      { email: `cat-${verified}@github.example`, primary: true, verified, visibility: 'public' },
    ]);
    const answer = await finish(way, { iss: 'https://github.com/login/oauth' });
    expect(answer).toMatchObject({
      status: 200,
      body: { user: { email: `cat-${verified}@github.example`, name: 'octocat', emailVerified } },
    });
    const me = asked.find(({ url }) => url === 'https://api.github.com/user');
    expect(me?.authorization).toBe('Bearer at');
  });

  it('Discord says in its answer who it is, and whether the address is verified', async () => {
    const me = { id: '80351110224678912', username: 'nelly', global_name: 'Nelly', verified: true };
    answers.set('https://discord.com/api/oauth2/token', tokens({ scope: 'identify email' }));
    answers.set('https://discord.com/api/users/@me', { ...me, email: 'nelly@discord.example' });
    const signedIn = await finish(await begin('discord'), { iss: 'https://discord.com' });
    expect(signedIn).toMatchObject({
      status: 200,
      body: { user: { email: 'nelly@discord.example', name: 'Nelly', emailVerified: true } },
    });
    expect(String(await finish(await begin('discord')))).toContain('error=provider_failed');
  });

  it('makes no account of who has no address there', async () => {
    answers.set('https://discord.com/api/oauth2/token', tokens({}));
    answers.set('https://discord.com/api/users/@me', { id: '7', username: 'x', email: null });
    const answer = await finish(await begin('discord'), { iss: 'https://discord.com' });
    expect(answer).toMatchObject({ status: 409, body: { code: 'conflict' } });
  });
});
