import { oauthRoutes } from '@backlot/contract';
import { anonymous, refusesStrangers, testProject } from '@backlot/testing';
import {
  createTestOpenIdProvider,
  type TestOpenIdProvider,
} from '@backlot/testing/open-id-provider';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  appOrigin,
  createOauthBed,
  locationOf,
  newVerifier,
  type OauthBed,
  returnTo,
} from '../testing/oauth-bed.ts';
import { otherProject, platform } from '../testing/test-bed.ts';

const used = { status: 400, body: { code: 'invalid_link' } };

describe('sign-in by an OpenID provider', () => {
  let bed: OauthBed;
  beforeAll(async () => {
    bed = await createOauthBed();
    bed.provider.people.set('ada', {
      email: 'Ada@Example.org',
      email_verified: true,
      name: 'Ada Lovelace',
    });
  });
  afterAll(() => bed.close());

  refusesStrangers(
    oauthRoutes.exchangeOauthCode,
    () => bed.http,
    () => ({ path: '/auth/oauth/token', body: { code: 'x', verifier: newVerifier().verifier } }),
  );

  it('makes a verified account at first, and finds it again by issuer and subject', async () => {
    const first = await bed.signInWith('ada');
    expect(first).toMatchObject({
      status: 200,
      body: {
        token: expect.any(String),
        isNew: true,
        user: { email: 'ada@example.org', emailVerified: true, name: 'Ada Lovelace' },
      },
    });
    bed.provider.people.set('ada', { email: 'countess@example.org', email_verified: true });
    const again = await bed.signInWith('ada');
    expect(again.body).toMatchObject({ isNew: false, user: { id: first.body.user.id } });
    expect(again.body.user.email).toBe('ada@example.org');
    const { identity } = { identity: bed.readIdentity(again.body.token) };
    expect((await bed.call('GET', '/auth/me', { identity })).status).toBe(200);
  });

  it('makes the guest who calls a user, who keeps the id; of one who has an account nothing is left behind unsaid', async () => {
    const beGuest = async () => {
      const { body } = await bed.call('POST', '/auth/guest');
      return { id: body.user.id, identity: bed.readIdentity(body.token) };
    };
    bed.provider.people.set('gus', { email: 'gus@example.org', email_verified: true });
    const guest = await beGuest();
    const become = () => bed.signInWith('gus', { identity: guest.identity });
    const answers = await Promise.all([become(), become()]);
    for (const { body } of answers)
      expect(body.user).toMatchObject({ id: guest.id, email: 'gus@example.org', isGuest: false });
    expect(answers.map(({ body }) => body.isNew).sort()).toEqual([false, true]);
    const other = await beGuest();
    const refused = await bed.signInWith('gus', { identity: other.identity });
    expect(refused).toMatchObject({ status: 409, body: { code: 'email_taken' } });
    const travelled = { ...(await bed.travel()), merge: false };
    const { body } = await bed.exchange(travelled, { identity: other.identity });
    expect(body).toMatchObject({ isNew: false, user: { id: guest.id } });
    const me = await bed.call('GET', '/auth/me', { identity: other.identity });
    expect(me.body.user).toMatchObject({ id: other.id, isGuest: true });
  });

  it('lists who signs users in', async () => {
    const { body } = await bed.call('GET', '/auth/providers');
    expect(body.items).toEqual([{ name: 'local', label: 'local' }]);
    expect(body.ways).toMatchObject({ signUp: true, codes: true, guests: true });
    expect((await bed.begin({ provider: 'google' })).status).toBe(404);
  });

  it('leads there with PKCE, nonce and state, and back into the app’s own address', async () => {
    const begun = await bed.begin();
    expect(begun.status).toBe(302);
    const there = new URL(locationOf(begun));
    expect(there.origin).toBe(bed.provider.issuer);
    const sent = Object.fromEntries(there.searchParams);
    expect(sent).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^testproject\.[\w-]{43}$/),
    });
    bed.provider.signsInAs = 'ada';
    const back = await bed.callback(await bed.provider.follow(there.href));
    expect(back.status).toBe(303);
    expect(locationOf(back)).toMatch(
      /^https:\/\/app\.example\/welcome\?from=menu&code=[\w-]{43}#top$/,
    );
  });

  it.each([
    ['another origin', 'https://evil.example/'],
    ['a longer host', 'https://app.example.evil.example/'],
    ['another port', 'https://app.example:8443/'],
    ['another scheme', 'http://app.example/'],
    ['a file of a project', 'http://localhost:8080/api/runtime/x/storage/files/1/evil.html'],
  ])('leads back to no %s, and names the setting', async (_what, elsewhere) => {
    const answer = await bed.begin({ returnTo: elsewhere });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_query' } });
    expect(answer.body.error).toContain('allowedOrigins');
  });

  it.each(['javascript:alert(1)', 'https://me:pw@app.example/', '/welcome', ''])(
    'refuses %j as an address of the app',
    async (returnTo) => {
      expect((await bed.begin({ returnTo })).body.code).toBe('invalid_query');
    },
  );

  it('leads owners back to pages of ours alone', async () => {
    const begin = (returnTo: string) =>
      bed.begin({ returnTo, project: platform, provider: 'google' });
    expect((await begin('https://app.example/')).status).toBe(400);
    expect((await begin('http://localhost:8080/console')).status).toBe(404);
  });

  it('takes a code once, also of many at the same time', async () => {
    bed.provider.signsInAs = 'ada';
    const { code, verifier } = await bed.travel();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => bed.exchange({ code, verifier })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ body }) => body.code === 'invalid_link')).toHaveLength(19);
  });

  it('takes the provider’s answer once, also of many at the same time', async () => {
    bed.provider.signsInAs = 'ada';
    const back = await bed.provider.follow(locationOf(await bed.begin()));
    const answers = await Promise.all(Array.from({ length: 10 }, () => bed.callback(back)));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(9);
  });

  it('makes one account of one person who comes several times at once', async () => {
    bed.provider.people.set('twins', { email: 'twins@example.org', email_verified: true });
    bed.provider.signsInAs = 'twins';
    const codes = await Promise.all([1, 2, 3].map(() => bed.travel()));
    const answers = await Promise.all(codes.map((code) => bed.exchange(code)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map(({ body }) => body.user.id)).size).toBe(1);
    expect(answers.filter(({ body }) => body.isNew)).toHaveLength(1);
  });

  it('ends a code for a wrong verifier, and after 60 seconds', async () => {
    bed.provider.signsInAs = 'ada';
    const { code, verifier } = await bed.travel();
    expect(await bed.exchange({ code, verifier: newVerifier().verifier })).toMatchObject(used);
    expect(await bed.exchange({ code, verifier })).toMatchObject(used);
    const late = await bed.travel();
    bed.clock.pass(60_000);
    expect(await bed.exchange(late)).toMatchObject(used);
  });

  it('forgets a state after 10 minutes', async () => {
    bed.provider.signsInAs = 'ada';
    const back = await bed.provider.follow(locationOf(await bed.begin()));
    bed.clock.pass(10 * 60_000);
    expect((await bed.callback(back)).status).toBe(400);
  });

  it('takes no state that nobody has begun, and none of another project', async () => {
    bed.provider.signsInAs = 'ada';
    const back = await bed.provider.follow(locationOf(await bed.begin()));
    for (const state of ['', 'x', 'testproject.x', 'otherproject.x', 'a.b.c']) {
      const forged = new URL(back);
      forged.searchParams.set('state', state);
      expect((await bed.callback(forged)).status).toBe(400);
    }
    const moved = new URL(back);
    moved.searchParams.set(
      'state',
      String(back.searchParams.get('state')).replace('testproject', 'otherproject'),
    );
    expect((await bed.callback(moved)).status).toBe(400);
    const elsewhere = anonymous({ project: testProject });
    const path = `${back.pathname.replace('/api/runtime/platform', '')}${back.search}`;
    expect((await bed.call('GET', path, { identity: elsewhere })).status).toBe(404);
    expect((await bed.callback(back)).status).toBe(303);
  });

  it('tells the app that the user has not consented', async () => {
    bed.provider.signsInAs = null;
    const { landing } = await bed.travel();
    expect(landing.origin).toBe(appOrigin);
    expect(landing.searchParams.get('error')).toBe('access_denied');
    expect(landing.searchParams.has('code')).toBe(false);
    expect(landing.hash).toBe('#top');
  });

  it('posts the code to the origin that has opened the window, and to no other', async () => {
    bed.provider.signsInAs = 'ada';
    const { verifier, challenge } = newVerifier();
    const begun = await bed.begin({ mode: 'popup', challenge });
    const page = await bed.callback(await bed.provider.follow(locationOf(begun)));
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toMatch(/script-src 'sha256-/);
    expect(page.body).toContain(`data-origin="${appOrigin}"`);
    const code = /code&quot;:&quot;([\w-]{43})/.exec(page.body)?.[1] ?? '';
    expect((await bed.exchange({ code, verifier })).status).toBe(200);
  });

  describe('refuses an ID token', () => {
    afterAll(() => {
      bed.provider.forge = undefined;
    });
    it.each([
      ['with another nonce', { nonce: 'x'.repeat(43) }],
      ['without a nonce', { nonce: undefined }],
      ['of another issuer', { iss: 'https://accounts.google.com' }],
      ['for another client', { aud: 'somebody-else' }],
      ['for several clients that does not say for whom', { aud: ['somebody-else', 'x'] }],
      ['that is over', { exp: 1000 }],
    ])('%s', async (_what, change) => {
      bed.provider.signsInAs = 'ada';
      bed.provider.forge = (claims) => JSON.parse(JSON.stringify({ ...claims, ...change }));
      const { landing } = await bed.travel();
      expect(landing.searchParams.get('error')).toBe('provider_failed');
      expect(landing.searchParams.has('code')).toBe(false);
    });
  });

  describe('of two providers', () => {
    let evil: TestOpenIdProvider;
    beforeAll(async () => {
      evil = await createTestOpenIdProvider();
      await bed.addProvider(evil, 'evil');
    });
    afterAll(() => evil.stop());

    it('takes no answer of one for a way that was begun to the other', async () => {
      bed.provider.signsInAs = 'ada';
      // The one leads the browser on to the other, with its own state.
      const toEvil = new URL(locationOf(await bed.begin({ provider: 'evil' })));
      const toHonest = new URL(locationOf(await bed.begin()));
      toHonest.searchParams.set('state', String(toEvil.searchParams.get('state')));
      const mixed = await bed.provider.follow(toHonest.href);
      expect(new URL(toEvil.searchParams.get('redirect_uri') ?? '').pathname).not.toBe(
        mixed.pathname,
      );
      const landing = new URL(locationOf(await bed.callback(mixed)));
      expect(landing.searchParams.get('error')).toBe('provider_failed');
    });

    it('takes no answer that names another issuer, or none where one is promised', async () => {
      for (const change of [
        (url: URL) => url.searchParams.set('iss', evil.issuer),
        (url: URL) => url.searchParams.delete('iss'),
      ]) {
        bed.provider.signsInAs = 'ada';
        const back = await bed.provider.follow(locationOf(await bed.begin()));
        change(back);
        const landing = new URL(locationOf(await bed.callback(back)));
        expect(landing.searchParams.get('error')).toBe('provider_failed');
      }
    });

    it('keeps their people apart, though subjects are the same', async () => {
      bed.provider.people.set('same', { email: 'one@example.org', email_verified: true });
      evil.people.set('same', { email: 'two@example.org', email_verified: true });
      const one = await bed.signInWith('same');
      evil.signsInAs = 'same';
      const made = newVerifier();
      const begun = await bed.begin({ provider: 'evil', challenge: made.challenge });
      const landing = new URL(locationOf(await bed.callback(await evil.follow(locationOf(begun)))));
      const code = String(landing.searchParams.get('code'));
      const two = await bed.exchange({ code, verifier: made.verifier });
      expect(two.body).toMatchObject({ isNew: true, user: { email: 'two@example.org' } });
      expect(two.body.user.id).not.toBe(one.body.user.id);
    });
  });

  describe('of two projects on one callback', () => {
    beforeAll(() => bed.addProvider(bed.provider, 'local', otherProject));

    it('signs each in to its own', async () => {
      const here = await bed.signInWith('ada');
      const there = await bed.signInWith('ada', { project: otherProject });
      expect([here.status, there.status]).toEqual([200, 200]);
      expect(there.body.user.id).not.toBe(here.body.user.id);
      expect(there.body.isNew).toBe(true);
    });

    it('takes no code of the other', async () => {
      bed.provider.signsInAs = 'ada';
      const { code, verifier } = await bed.travel();
      expect(await bed.exchange({ code, verifier }, { project: otherProject })).toMatchObject(used);
      expect((await bed.exchange({ code, verifier })).status).toBe(200);
    });
  });

  it('keeps no state, code or verifier in the clear', async () => {
    bed.provider.signsInAs = 'ada';
    const begun = new URL(locationOf(await bed.begin({ returnTo })));
    const { code } = await bed.travel();
    const stored = JSON.stringify([
      await bed.database.query('SELECT * FROM oauth_flows'),
      await bed.database.query('SELECT * FROM oauth_codes'),
    ]);
    for (const secret of [
      begun.searchParams.get('state')?.split('.')[1],
      begun.searchParams.get('nonce'),
      code,
    ])
      expect(stored).not.toContain(String(secret));
  });
});
