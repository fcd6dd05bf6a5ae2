import { authRoutes } from '@backlot/contract';
import { anonymous, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Authenticator,
  type Ceremony,
  createAuthenticator,
} from '../testing/authenticator.ts';
import {
  createTestBed,
  minuteMs,
  otherProject,
  type Person,
  platform,
  type TestBed,
} from '../testing/test-bed.ts';

const ownOrigin = 'http://localhost:8080';
const appOrigin = 'https://app.example.org';

describe('passkeys', () => {
  let bed: TestBed;
  let person: Person;
  let device: Authenticator;
  beforeAll(async () => {
    bed = await createTestBed();
    bed.snapshots.set('testproject', { verifiedOrigins: [appOrigin] });
    person = await bed.signUp({ name: 'Ada' });
    device = createAuthenticator();
    await add(person, device, { name: 'Laptop' });
  });
  afterAll(() => bed.close());

  const nobody = '/auth/passkeys/018f0000-0000-7000-8000-000000000000';
  for (const [route, path, body] of [
    [authRoutes.createPasskeyOptions, '/auth/passkeys/options'],
    [authRoutes.listPasskeys, '/auth/passkeys'],
    [authRoutes.renamePasskey, nobody, { name: 'Phone' }],
    [authRoutes.deletePasskey, nobody],
    [authRoutes.createPasskeySignIn, '/auth/passkeys/sign-in/options'],
  ] as const)
    refusesStrangers(
      route,
      () => bed.http,
      () => ({ path, ...(body && { body }) }),
    );
  const shownToRefusal = createAuthenticator();
  refusesStrangers(
    authRoutes.addPasskey,
    () => bed.http,
    () => {
      const asked = { challenge: 'x', rp: { id: 'localhost' }, user: { id: 'x' } };
      return { path: '/auth/passkeys', body: { credential: shownToRefusal.create(asked) } };
    },
  );
  refusesStrangers(
    authRoutes.signInWithPasskey,
    () => bed.http,
    () => {
      const credential = shownToRefusal.get({ challenge: 'x', rpId: 'localhost' });
      return { path: '/auth/passkeys/sign-in', body: { credential } };
    },
  );

  const options = async ({ identity }: Person, origin = ownOrigin) =>
    bed.call('POST', '/auth/passkeys/options', { identity, headers: { origin } });
  const add = async (
    person: Person,
    authenticator: Authenticator,
    { origin = ownOrigin, name, ...changes }: Ceremony & { name?: string } = {},
  ) => {
    const { body } = await options(person, origin);
    const credential = authenticator.create(body, { origin, ...changes });
    const { identity } = person;
    return bed.call('POST', '/auth/passkeys', { identity, body: { credential, name } });
  };
  const ask = async (origin = ownOrigin, project = person.identity.project) =>
    (
      await bed.call('POST', '/auth/passkeys/sign-in/options', {
        identity: anonymous({ project }),
        headers: { origin },
      })
    ).body;
  let address = 0;
  const show = (credential: unknown, project = person.identity.project) =>
    bed.call('POST', '/auth/passkeys/sign-in', {
      identity: anonymous({ project, ip: `203.0.113.${++address}` }),
      body: { credential },
    });
  const list = async ({ identity }: Person) =>
    (await bed.call('GET', '/auth/passkeys', { identity })).body.items;

  it('are asked for with the user, the host and an expiring challenge, and exclude those that are known', async () => {
    const { status, body } = await options(person);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      rp: { id: 'localhost', name: 'Test project' },
      user: { name: person.email, displayName: 'Ada' },
      excludeCredentials: [{ type: 'public-key', id: device.id, transports: ['internal'] }],
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      attestation: 'none',
    });
    expect(Buffer.from(body.user.id, 'base64url').toString()).toBe(person.user.id);
  });

  it('sign in, by both factors, and tell when they were used last', async () => {
    bed.clock.pass(minuteMs);
    const { status, body } = await show(device.get(await ask()));
    expect(status).toBe(200);
    expect(body.user).toEqual(person.user);
    const { sessionId } = bed.readIdentity(body.token);
    expect(await bed.findSession(sessionId)).toMatchObject({ hasSecondFactor: true });
    expect((await list(person))[0]).toMatchObject({
      name: 'Laptop',
      host: 'localhost',
      lastUsedAt: new Date(bed.clock.now()).toISOString(),
    });
  });

  it('are several of a user, each with a name, and end one by one', async () => {
    const anna = await bed.signUp();
    const [phone, key] = [createAuthenticator(), createAuthenticator()];
    expect(await add(anna, phone)).toMatchObject({ status: 201, body: { name: 'Passkey' } });
    const { body } = await add(anna, key, { name: 'Key' });
    const path = `/auth/passkeys/${body.id}`;
    const { identity } = anna;
    await bed.call('PATCH', path, { identity, body: { name: 'Blue key' } });
    expect((await list(anna)).map(({ name }: { name: string }) => name)).toEqual([
      'Blue key',
      'Passkey',
    ]);
    for (const [method, sent] of [['PATCH', { name: 'Mine' }], ['DELETE']] as const) {
      const { identity: stranger } = person;
      const answer = await bed.call(method, path, {
        identity: stranger,
        ...(sent && { body: sent }),
      });
      expect(answer).toMatchObject({ status: 404 });
    }
    expect((await bed.call('DELETE', path, { identity })).status).toBe(200);
    expect((await bed.call('DELETE', path, { identity })).status).toBe(404);
    expect((await show(key.get(await ask()))).status).toBe(401);
    expect((await show(phone.get(await ask()))).status).toBe(200);
  });

  it('are 20 of a user at most, also of many at once', async () => {
    const anna = await bed.signUp();
    const asked = await Promise.all(Array.from({ length: 22 }, () => options(anna)));
    const answers = await Promise.all(
      asked.map(({ body }) =>
        bed.call('POST', '/auth/passkeys', {
          identity: anna.identity,
          body: { credential: createAuthenticator().create(body) },
        }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
    expect(answers.filter(({ body }) => body.code === 'limit_reached')).toHaveLength(2);
    expect((await options(anna)).body.code).toBe('limit_reached');
  });

  it('work at origins that are proven to be the app’s, each at its own', async () => {
    const app = createAuthenticator(appOrigin);
    expect((await add(person, app, { origin: appOrigin })).body.host).toBe('app.example.org');
    expect((await show(app.get(await ask(appOrigin)))).status).toBe(200);
    const elsewhere = { origin: ownOrigin, host: 'localhost' };
    expect((await show(app.get(await ask(ownOrigin), elsewhere))).status).toBe(401);
    const loopback = 'http://localhost:5173';
    expect((await options(person, loopback)).body.code).toBe('origin_unproven');
    bed.snapshots.set('testproject', {
      verifiedOrigins: [appOrigin],
      settings: { allowedOrigins: [loopback, 'https://other.example.org'] },
    });
    expect((await options(person, loopback)).status).toBe(200);
    for (const origin of ['https://other.example.org', 'https://app.example.org.evil', 'null'])
      expect(await options(person, origin)).toMatchObject({
        status: 409,
        body: { code: 'origin_unproven' },
      });
    expect((await show(device.get(await ask(), { origin: 'https://evil.org' }))).body.code).toBe(
      'origin_unproven',
    );
  });

  it('of owners work at the platform’s own address alone', async () => {
    const owner = await bed.signUp({ project: platform });
    const key = createAuthenticator();
    expect((await add(owner, key)).status).toBe(201);
    expect((await show(key.get(await ask(ownOrigin, platform)), platform)).status).toBe(200);
    expect((await options(owner, appOrigin)).body.code).toBe('origin_unproven');
  });

  it('of one project open no other', async () => {
    const shown = device.get(await ask(ownOrigin, otherProject));
    expect((await show(shown, otherProject)).status).toBe(401);
    const ofThis = device.get(await ask());
    expect((await show(ofThis, otherProject)).status).toBe(401);
  });

  it('answer a challenge once, also of 50 at once, and within 5 minutes', async () => {
    const shown = device.get(await ask());
    const answers = await Promise.all(Array.from({ length: 50 }, () => show(shown)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 401]));
    const late = device.get(await ask());
    bed.clock.pass(5 * minuteMs);
    expect((await show(late)).status).toBe(401);
    const { body } = await options(person);
    bed.clock.pass(5 * minuteMs);
    const { identity } = person;
    const credential = createAuthenticator().create(body);
    expect(
      await bed.call('POST', '/auth/passkeys', { identity, body: { credential } }),
    ).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
  });

  it('are kept once, for whom they were asked for', async () => {
    const [anna, bob] = [await bed.signUp(), await bed.signUp()];
    const { body } = await options(anna);
    const credential = createAuthenticator().create(body);
    const send = ({ identity }: Person) =>
      bed.call('POST', '/auth/passkeys', { identity, body: { credential } });
    expect((await send(bob)).status).toBe(400);
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(anna)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(await list(anna)).toHaveLength(1);
  });

  it('of a copied authenticator sign in no more', async () => {
    const anna = await bed.signUp();
    const counting = createAuthenticator(ownOrigin, { isCounting: true });
    await add(anna, counting);
    expect((await show(counting.get(await ask()))).status).toBe(200);
    const [first, second] = [await ask(), await ask()];
    const copies = [counting.get(first, { counter: 9 }), counting.get(second, { counter: 9 })];
    const answers = await Promise.all(copies.map((copy) => show(copy)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
    expect((await show(counting.get(await ask(), { counter: 5 }))).status).toBe(401);
    expect((await show(counting.get(await ask(), { counter: 0 }))).status).toBe(401);
    expect((await show(counting.get(await ask(), { counter: 10 }))).status).toBe(200);
  });

  it.each([
    ['without the user’s finger or PIN', { isUserVerified: false }],
    ['for another host', { host: 'evil.org' }],
    ['of another user', { userHandle: Buffer.from('somebody else').toString('base64url') }],
  ] as const)('do not sign in %s', async (_what, changes) => {
    expect(await show(device.get(await ask(), changes))).toMatchObject({
      status: 401,
      body: { code: 'invalid_credentials' },
    });
  });

  it('do not sign in from a frame of another page, or by a signature of another key', async () => {
    const framed = device.get(await ask(), { crossOrigin: true });
    expect((await show(framed)).status).toBe(400);
    const forged = { ...createAuthenticator().get(await ask()), id: device.id, rawId: device.id };
    expect((await show(forged)).status).toBe(401);
    const good = device.get(await ask());
    const swapped = { ...good, response: { ...good.response, signature: 'AAAA' } };
    expect((await show(swapped)).status).toBe(401);
  });

  it.each([
    ['without the user’s finger or PIN', { isUserVerified: false }],
    ['of another host', { host: 'evil.org' }],
    [
      'that have certificates, whose addresses the platform would call',
      {
        attestation: {
          format: 'packed',
          statement: new Map<string, never>([['x5c', Buffer.alloc(3) as never]]),
        },
      },
    ],
    ['of a kind that nobody knows', { attestation: { format: 'tpm', statement: new Map() } }],
  ] as const)('are not kept %s', async (_what, changes) => {
    const anna = await bed.signUp();
    expect(await add(anna, createAuthenticator(), changes)).toMatchObject({
      status: 400,
      body: { code: 'invalid_body' },
    });
    expect(await list(anna)).toEqual([]);
  });

  it('are refused by name where they are none', async () => {
    const good = device.get(await ask());
    const { identity } = person;
    const bodies = [
      {},
      { credential: 'x' },
      { credential: { ...good, id: '' } },
      { credential: { ...good, rawId: 'other' } },
      { credential: { ...good, response: {} } },
      { credential: { ...good, response: { ...good.response, clientDataJSON: 'e30' } } },
      { credential: { ...good, response: { ...good.response, authenticatorData: 'AAAA' } } },
    ];
    for (const body of bodies)
      for (const path of ['/auth/passkeys', '/auth/passkeys/sign-in']) {
        const { status } = await bed.call('POST', path, {
          identity: path.endsWith('in') ? anonymous({ ip: `198.51.100.${++address}` }) : identity,
          body,
        });
        expect([400, 401]).toContain(status);
      }
  });

  it('let 30 of an address fail in 15 minutes', async () => {
    const ip = '192.0.2.77';
    const asked = await ask();
    const answers = await Promise.all(
      Array.from({ length: 40 }, () =>
        bed.call('POST', '/auth/passkeys/sign-in', {
          identity: anonymous({ ip }),
          body: { credential: createAuthenticator().get(asked) },
        }),
      ),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(30);
    expect(answers.filter(({ body }) => body.code === 'too_many_attempts')).toHaveLength(10);
  });

  it('leave nothing behind where nobody answers', async () => {
    const rows = () => bed.database.query('SELECT FROM used_challenges');
    const before = (await rows()).length;
    for (let n = 0; n < 20; n++) await ask();
    await options(person);
    expect((await rows()).length).toBe(before);
  });

  it('end with the proof that the address is somebody else’s', async () => {
    const anna = await bed.signUp();
    const key = createAuthenticator();
    await add(anna, key);
    await bed.call('POST', '/auth/verify', {
      identity: anonymous({ ip: '198.51.100.200' }),
      body: {
        token: (await bed.take('mail.requested')).findLast(({ to }) => to === anna.email)?.token,
      },
    });
    expect((await show(key.get(await ask()))).status).toBe(401);
  });
});
