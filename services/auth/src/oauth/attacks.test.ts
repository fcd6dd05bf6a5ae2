import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { anonymous, asOwner, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  appOrigin,
  createOauthBed,
  locationOf,
  newVerifier,
  type OauthBed,
} from '../testing/oauth-bed.ts';
import { platform } from '../testing/test-bed.ts';

let bed: OauthBed;
beforeAll(async () => {
  bed = await createOauthBed();
});
afterAll(() => bed.close());

describe('a page to return to', () => {
  it.each([
    'https://app.example@evil.example/',
    'https://app.example:x@evil.example/',
    'https://app.example%2f@evil.example/',
    'https:\\\\evil.example/',
    'https://app.example./',
    'https://app.example:8443/',
    'http://app.example/',
    'https://xn--pp-7ja.example/',
    'https://аpp.example/',
    'https://evil.example/https://app.example/',
    'https://evil.example/#https://app.example/',
    'https://sub.app.example/',
    'https://app.example.evil.example/',
    'blob:https://app.example/x',
    'data:text/html,x',
    'javascript:alert(1)',
    'filesystem:https://app.example/x',
    'view-source:https://app.example/',
    '//app.example/',
    'null',
    'about:blank',
    'https://user:pass@app.example/',
    'http://localhost:8080/api/runtime/testproject/storage/x',
    'http://localhost:8080/account/../api/x',
    'http://localhost:8080/account/%2e%2e/api/x',
    'http://localhost:8080/accountx',
    'http://localhost:8080//evil.example/account/',
  ])('%s is none', async (returnTo) => {
    const begun = await bed.begin({ returnTo });
    expect([begun.status, begun.body.code]).toEqual([400, 'invalid_query']);
  });

  it.each([
    [`${appOrigin}\\..\\a`, `${appOrigin}/a?code=`],
    ['https://app.example\\@evil.example/', `${appOrigin}/@evil.example/?code=`],
    [`HTTPS://APP.EXAMPLE:443/a`, `${appOrigin}/a?code=`],
    [`${appOrigin}/a?code=mine&error=mine`, `${appOrigin}/a?code=`],
  ])('%s is one, as browsers read it', async (returnTo, expected) => {
    bed.provider.people.set('ada', { email: 'ada@example.org', email_verified: true });
    bed.provider.signsInAs = 'ada';
    const { landing } = await bed.travel({ returnTo });
    expect(landing.href.startsWith(expected)).toBe(true);
    expect(landing.searchParams.getAll('code')).toHaveLength(1);
  });
});

describe('an answer of a provider', () => {
  const answerWith = async (claims: object) => {
    bed.provider.signsInAs = 'odd';
    bed.provider.people.set('odd', {});
    bed.provider.forge = (own) => ({ ...own, ...claims });
    try {
      const { code, verifier, landing } = await bed.travel();
      if (code === '') return landing.searchParams.get('error');
      const { status, body } = await bed.exchange({ code, verifier });
      return [status, body.user ?? body.code];
    } finally {
      bed.provider.forge = undefined;
    }
  };

  it.each([
    ['a number', 7],
    ['an object', { a: 1 }],
    ['nothing', ''],
    ['too much', 'x'.repeat(256)],
    ['10 MB', 'x'.repeat(10_000_000)],
    ['NUL', 'a\0b'],
    ['null', null],
    ['a list', ['a']],
  ])('that names %s as its subject signs nobody in', async (_what, sub) => {
    expect(await answerWith({ sub, email: 'odd@example.org', email_verified: true })).toBe(
      'provider_failed',
    );
  });

  it.each([
    ['a list', ['victim@example.org']],
    ['an object', { address: 'victim@example.org' }],
    ['two', 'victim@example.org,evil@example.org'],
    ['one with a name', 'Victim <victim@example.org>'],
    ['one with a line', 'victim@example.org\r\nBcc: x@example.org'],
    ['one with NUL', 'victim\0@example.org'],
    ['one that only looks like it', 'mi\u212ae@example.org'],
    ['a number', 7],
  ])('that names %s as the address makes no account', async (_what, email) => {
    const [status, code] =
      (await answerWith({ sub: `odd ${_what}`, email, email_verified: true })) ?? [];
    expect([status, code]).toEqual([409, 'conflict']);
  });

  it.each([1, 'TRUE', 'yes', [], {}, ['true']].map((verified, n) => ({ verified, n })))(
    'that says $verified of the address has not verified it',
    async ({ verified, n }) => {
      const email = `known${n}@example.org`;
      await bed.signUp({ email });
      expect(await answerWith({ sub: `odd ${email}`, email, email_verified: verified })).toEqual([
        409,
        'email_taken',
      ]);
    },
  );

  it.each(
    [
      ['a sound', 'a\u0007b'],
      ['what turns round', 'a\u202Eb'],
      ['lines', 'a\nb'],
      ['too much', 'x'.repeat(10_000)],
      ['a number', 7],
      ['a list', ['a']],
    ].map(([what, name], n) => ({ what, name, n })),
  )('that gives $what as a name leaves it out', async ({ name, n }) => {
    const email = `named${n}@example.org`;
    const [status, user] =
      (await answerWith({ sub: email, email, email_verified: true, name })) ?? [];
    expect([status, user]).toMatchObject([200, { email, name: null }]);
  });
});

describe('a code', () => {
  it('that somebody else’s browser has brought signs in nobody who has not begun, and links nothing', async () => {
    bed.provider.people.set('mallory', { email: 'mallory@example.org', email_verified: true });
    bed.provider.signsInAs = 'mallory';
    const victim = await bed.signUp();
    const { code } = await bed.travel();
    const { verifier } = newVerifier();
    const linked = await bed.call('POST', '/auth/identities', {
      identity: victim.identity,
      body: { code, verifier },
    });
    expect(linked).toMatchObject({ status: 400, body: { code: 'invalid_link' } });
    const second = await bed.travel();
    const signedIn = await bed.exchange({ code: second.code, verifier });
    expect(signedIn).toMatchObject({ status: 400, body: { code: 'invalid_link' } });
    expect((await bed.exchange(second)).status).toBe(400);
  });
});

describe('an issuer', () => {
  const listen = async (answer: (path: string, origin: string) => object) => {
    const server = createServer((req, res) => {
      const { port } = server.address() as AddressInfo;
      const body = JSON.stringify(answer(req.url ?? '', `http://localhost:${port}`));
      res.writeHead(200, { 'content-type': 'application/json' }).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    return { issuer: `http://localhost:${port}`, stop: () => server.close() };
  };
  const set = (issuer: string) =>
    bed.setProvider('mine', { issuer, clientId: 'a', clientSecret: 'b' });

  it.each([
    ['names another issuer', (own: object) => ({ ...own, issuer: 'https://accounts.google.com' })],
    [
      'leads to a script',
      (own: object) => ({ ...own, authorization_endpoint: 'javascript:alert(1)' }),
    ],
    [
      'leads to a private address',
      (own: object) => ({ ...own, authorization_endpoint: 'http://10.0.0.1/' }),
    ],
    ['leads nowhere', (own: object) => ({ ...own, authorization_endpoint: 7 })],
    ['says too much', (own: object) => ({ ...own, more: 'x'.repeat(70_000) })],
    ['says nothing', () => []],
  ])('that %s is refused', async (_what, change) => {
    const { issuer, stop } = await listen((_path, origin) =>
      change({
        issuer: origin,
        authorization_endpoint: `${origin}/a`,
        token_endpoint: `${origin}/t`,
      }),
    );
    expect(await set(issuer)).toMatchObject({ status: 502, body: { code: 'upstream_failed' } });
    stop();
  });

  it.each(['token_endpoint', 'jwks_uri', 'userinfo_endpoint'])(
    'is asked nothing at a %s of a private network, or of this machine by another scheme',
    async (endpoint) => {
      for (const address of [
        'http://10.0.0.1/x',
        'http://169.254.169.254/x',
        'file:///etc/passwd',
        7,
      ]) {
        const { issuer, stop } = await listen((_path, origin) => ({
          issuer: origin,
          authorization_endpoint: `${origin}/a`,
          token_endpoint: `${origin}/t`,
          jwks_uri: `${origin}/j`,
          [endpoint]: address,
        }));
        if ((await set(issuer)).status === 200) {
          const begun = new URL(locationOf(await bed.begin({ provider: 'mine' })));
          const back = new URL(String(begun.searchParams.get('redirect_uri')));
          back.searchParams.set('state', String(begun.searchParams.get('state')));
          back.searchParams.set('code', 'x');
          const landing = new URL(locationOf(await bed.callback(back)));
          expect(landing.searchParams.get('error')).toBe('provider_failed');
        }
        stop();
      }
    },
  );

  it('is nobody’s to set for the platform itself', async () => {
    const { provider } = bed;
    const { issuer, clientId, clientSecret } = provider;
    const answer = await bed.call('PUT', '/platform/projects/platform/auth-providers/mine', {
      identity: asOwner({ project: platform }),
      body: { issuer, clientId, clientSecret },
    });
    expect(answer.status).toBeGreaterThanOrEqual(400);
  });
});

describe('what can not be', () => {
  const state = `${testProject.id}.x`;
  it.each([
    [
      'GET',
      '/auth/oauth/%00?returnTo=https%3A%2F%2Fapp.example&challenge=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    ],
    [
      'GET',
      '/auth/oauth/__proto__?returnTo=https%3A%2F%2Fapp.example&challenge=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    ],
    ['GET', '/auth/oauth/local?returnTo=x&returnTo=y&challenge=a'],
    ['GET', `/auth/oauth/callback?state=${state}&state=${state}`],
    ['GET', '/auth/oauth/callback?state=%00.x'],
    ['GET', '/auth/oauth/callback?state=__proto__.x'],
    ['GET', `/auth/oauth/callback?state=${'x'.repeat(2000)}.x&code[]=1`],
    ['GET', '/auth/oauth/callback?state=..%2F..%2Finternal.x'],
    ['GET', `/auth/oauth/callback/%E0%A4%A?state=${state}`],
    ['GET', `/auth/oauth/callback/%00?state=${state}`],
    ['GET', '/auth/oauth/callback'],
    ['POST', '/auth/oauth/callback'],
  ])('%s %.60s is refused by name', async (method, path) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await bed.call(method, path, {
      identity: anonymous({ project: path.includes('callback') ? platform : testProject }),
      ...(method === 'POST' && { headers, body: 'state=%00&state=a&user=%7B%7D' }),
    });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
  });

  it.each(['%00', '__proto__', 'constructor', '%F0%9F%98%80', 'x'.repeat(3000)])(
    'a provider called %.40s is none',
    async (name) => {
      for (const [method, body] of [
        ['GET'],
        ['DELETE'],
        ['PUT', { off: true }],
        ['PUT', { clientId: 'a\0', clientSecret: 'b' }],
        ['PUT', { clientId: 'a', clientSecret: 'b', issuer: 'https://[' }],
        ['PUT', { clientId: ['a'], clientSecret: {} }],
      ] as [string, object?][]) {
        const path = `/platform/projects/${testProject.id}/auth-providers/${name}`;
        const answer = await bed.call(method, path, {
          identity: asOwner({ project: testProject }),
          ...(body && { body }),
        });
        expect([method, answer.status >= 400 && answer.status < 500]).toEqual([method, true]);
      }
    },
  );
});
