import type { Identity, IdentityProject } from '@backlot/identity';
import { anonymous, asUser, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAuthenticator } from '../testing/authenticator.ts';
import { setUpApp } from '../testing/authenticator-app.ts';
import { createOauthBed, newVerifier, type OauthBed, returnTo } from '../testing/oauth-bed.ts';
import { dayMs, goodPassword, minuteMs, otherProject, type Person } from '../testing/test-bed.ts';

describe('a guest who meets an account', () => {
  let bed: OauthBed;
  let count = 0;
  beforeAll(async () => {
    bed = await createOauthBed();
    await bed.ownerDatabase.query(
      `CREATE FUNCTION crash() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'crash'; END $$`,
    );
  });
  afterAll(() => bed.close());

  const post = (path: string, body: object, identity: Identity) =>
    bed.call('POST', path, { identity, body });
  const newGuest = async (project: IdentityProject = testProject) => {
    const ip = `203.0.113.${++count % 250}`;
    const { body } = await bed.call('POST', '/auth/guest', {
      identity: anonymous({ project, ip }),
    });
    return { id: body.user.id as string, identity: bed.readIdentity(body.token, project) };
  };
  const withPassword = (person: Person, identity: Identity, more: object = { merge: true }) =>
    post('/auth/signin', { email: person.email, password: person.password, ...more }, identity);
  const codeFor = async (email: string, identity: Identity) => {
    await bed.takeEvents();
    await post('/auth/code', { email }, identity);
    return (await bed.take('mail.requested'))[0]?.code;
  };
  const withCode = async (person: Person, identity: Identity, more: object = { merge: true }) =>
    post(
      '/auth/code/verify',
      { email: person.email, code: await codeFor(person.email, identity), ...more },
      identity,
    );
  const withProvider = async (
    person: Person,
    identity: Identity,
    more: object = { merge: true },
  ) => {
    const subject = `subject-${person.user.id}`;
    bed.provider.people.set(subject, { email: person.email, email_verified: true });
    bed.provider.signsInAs = subject;
    return bed.exchange({ ...(await bed.travel()), ...more }, { identity });
  };
  const withPasskey = async (
    { identity: own }: Person,
    identity: Identity,
    more: object = { merge: true },
  ) => {
    const key = createAuthenticator();
    const created = key.create((await post('/auth/passkeys/options', {}, own)).body);
    const added = await post('/auth/passkeys', { credential: created }, own);
    expect(added.status).toBe(201);
    const asked = (await post('/auth/passkeys/sign-in/options', {}, identity)).body;
    return post('/auth/passkeys/sign-in', { credential: key.get(asked), ...more }, identity);
  };
  const isThere = async (id: string) =>
    (await bed.database.query('SELECT FROM users WHERE id = $1', [id])).length > 0;
  const groupsOf = (id: string) =>
    bed.database.query<{ group_id: string; role: string }>(
      'SELECT group_id, role FROM group_members WHERE user_id = $1 ORDER BY group_id',
      [id],
    );

  it.each([
    ['a password', withPassword],
    ['a code', withCode],
    ['a provider', withProvider],
    ['a passkey', withPasskey],
  ])(
    'with %s and merge becomes part of it: the session ends, all services are told',
    async (_, enter) => {
      const [person, guest] = [await bed.signUp(), await newGuest()];
      const group = (await post('/groups', { name: 'Trip' }, guest.identity)).body;
      await bed.takeEvents();
      const entered = await enter(person, guest.identity);
      expect(entered).toMatchObject({ status: 200, body: { user: { id: person.user.id } } });
      expect(await isThere(guest.id)).toBe(false);
      expect(await bed.findSession(guest.identity.sessionId)).toBeNull();
      expect(await groupsOf(person.user.id)).toEqual([{ group_id: group.id, role: 'owner' }]);
      const events = await bed.takeEvents();
      const ids = { guestId: guest.id, userId: person.user.id };
      const inProject = { projectId: testProject.id, projectNumber: testProject.number };
      expect(events).toContainEqual(
        expect.objectContaining({ topic: 'user.merged', payload: { ...inProject, ...ids } }),
      );
      const told = { type: 'user.merged', data: ids, userId: person.user.id };
      expect(events).toContainEqual(
        expect.objectContaining({ topic: 'app.event', payload: expect.objectContaining(told) }),
      );
      expect(events.map(({ topic }) => topic)).toContain('session.revoked');
      const identity = bed.readIdentity(entered.body.token);
      const log = await bed.call('GET', '/auth/events', { identity });
      expect(log.body.items[0]).toMatchObject({ kind: 'guest_merged', detail: guest.id });
    },
  );

  it('without merge is refused by code and provider, which stay good, and left alone with false', async () => {
    const person = await bed.signUp();
    const guest = await newGuest();
    const taken = { status: 409, body: { code: 'email_taken' } };
    expect(await withCode(person, guest.identity, {})).toMatchObject(taken);
    expect(await withProvider(person, guest.identity, {})).toMatchObject(taken);
    for (const enter of [withPassword, withCode, withProvider]) {
      const entered = await enter(person, guest.identity, { merge: false });
      expect(entered.body.user.id).toBe(person.user.id);
    }
    const other = await bed.signUp();
    const entered = await withPasskey(other, guest.identity, { merge: false });
    expect(entered.body.user.id).toBe(other.user.id);
    expect(await isThere(guest.id)).toBe(true);
    // Linked by now: the provider's word alone finds the account.
    expect(await withProvider(person, guest.identity, {})).toMatchObject(taken);
    const again = await withProvider(person, guest.identity);
    expect(again.body.user.id).toBe(person.user.id);
    expect(await isThere(guest.id)).toBe(false);
  });

  it('is not merged by a link, which anybody may have sent', async () => {
    const [person, guest] = [await bed.signUp(), await newGuest()];
    await bed.takeEvents();
    await post('/auth/code', { email: person.email }, anonymous());
    const token = (await bed.take('mail.requested'))[0]?.token;
    const by = (merge?: boolean) => post('/auth/code/verify', { token, merge }, guest.identity);
    expect(await by(true)).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect(await by()).toMatchObject({ status: 409, body: { code: 'email_taken' } });
    expect((await by(false)).body.user.id).toBe(person.user.id);
    expect(await isThere(guest.id)).toBe(true);
  });

  it('whose address has no account becomes a user as ever, whatever merge says', async () => {
    const guest = await newGuest();
    const email = `new${++count}@example.org`;
    const code = await codeFor(email, guest.identity);
    const made = await post('/auth/code/verify', { email, code, merge: true }, guest.identity);
    expect(made.body).toMatchObject({ isNew: true, user: { id: guest.id, email } });
  });

  it('is merged by nobody else: neither a user, nor a visitor, nor another project’s guest, nor an ended session', async () => {
    const [person, other] = [await bed.signUp(), await bed.signUp()];
    const refused = { status: 403, body: { code: 'forbidden' } };
    for (const identity of [other.identity, person.identity, anonymous()])
      for (const enter of [withPassword, withCode, withProvider, withPasskey])
        expect(await enter(person, identity)).toMatchObject(refused);
    const abroad = await newGuest(otherProject);
    const asHere = { ...abroad.identity, project: testProject };
    expect(await withPassword(person, asHere)).toMatchObject({ status: 401 });
    expect(await isThere(abroad.id)).toBe(true);
    const guest = await newGuest();
    await post('/auth/signout', {}, guest.identity);
    expect(await withPassword(person, guest.identity)).toMatchObject({ status: 401 });
    expect(await isThere(guest.id)).toBe(true);
    expect(await withPassword(person, asUser(guest.id))).toMatchObject({ status: 401 });
  });

  it('is not merged by a wrong password or code', async () => {
    const [person, guest] = [await bed.signUp(), await newGuest()];
    const wrong = { ...person, password: 'another good password' };
    expect((await withPassword(wrong, guest.identity)).status).toBe(401);
    const code = '000000';
    const body = { email: person.email, code, merge: true };
    expect((await post('/auth/code/verify', body, guest.identity)).status).toBe(401);
    expect(await isThere(guest.id)).toBe(true);
  });

  it.each([
    ['a blocked account', 'UPDATE users SET blocked_at = now() WHERE id = $1', 'blocked', {}],
    ['an unverified one that must verify', 'SELECT $1', 'verify_first', { mustVerify: true }],
    ['one that needs two factors', 'SELECT $1', 'factor_first', { mustUse2fa: ['user'] }],
  ])('is not merged into %s, and nobody is signed in', async (_, change, code, settings) => {
    const [person, guest] = [await bed.signUp(), await newGuest()];
    await bed.database.query(change, [person.user.id]);
    const identity = { ...guest.identity, project: { ...testProject, settings } };
    expect(await withPassword(person, identity)).toMatchObject({ status: 403, body: { code } });
    expect(await isThere(guest.id)).toBe(true);
    expect((await withPassword(person, identity, {})).status).toBe(200);
  });

  it('who is blocked is not merged', async () => {
    const [person, guest] = [await bed.signUp(), await newGuest()];
    await bed.database.query('UPDATE users SET blocked_at = now() WHERE id = $1', [guest.id]);
    expect((await withPassword(person, guest.identity)).body.code).toBe('blocked');
  });

  it('is merged once: of many calls at once one does it, into one account', async () => {
    const [one, two, guest] = [await bed.signUp(), await bed.signUp(), await newGuest()];
    await bed.takeEvents();
    const answers = await Promise.all(
      [one, two, one, two].map((person) => withPassword(person, guest.identity)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
    expect(await bed.take('user.merged')).toHaveLength(1);
  });

  it('two guests of one account are both merged, at once', async () => {
    const person = await bed.signUp();
    const guests = [await newGuest(), await newGuest(), await newGuest()];
    const answers = await Promise.all(guests.map(({ identity }) => withPassword(person, identity)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const { id } of guests) expect(await isThere(id)).toBe(false);
  });

  it('signs up or merges, not both, where both happen at once', async () => {
    const [person, guest] = [await bed.signUp(), await newGuest()];
    const email = `both${++count}@example.org`;
    const answers = await Promise.all([
      withPassword(person, guest.identity),
      post('/auth/signup', { email, password: goodPassword }, guest.identity),
    ]);
    expect(answers.filter(({ status }) => status < 300)).toHaveLength(1);
    const isUser = answers[1]?.status === 201;
    expect(await isThere(guest.id)).toBe(isUser);
  });

  it.each(['sessions', 'sign_in_events', 'merges', 'outbox'])(
    'a crash while %s are written leaves guest and account as they were',
    async (table) => {
      const [person, guest] = [await bed.signUp(), await newGuest()];
      await post('/groups', { name: 'Trip' }, guest.identity);
      const code = await codeFor(person.email, guest.identity);
      const body = { email: person.email, code, merge: true };
      await bed.ownerDatabase.query(
        `CREATE TRIGGER crashing BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION crash()`,
      );
      const crashed = await post('/auth/code/verify', body, guest.identity).finally(() =>
        bed.ownerDatabase.query(`DROP TRIGGER crashing ON ${table}`),
      );
      expect(crashed.status).toBe(500);
      expect(await isThere(guest.id)).toBe(true);
      expect(await groupsOf(guest.id)).toHaveLength(1);
      expect(await bed.findSession(guest.identity.sessionId)).not.toBeNull();
      expect(await bed.take('user.merged')).toEqual([]);
      // The code is good still.
      expect((await post('/auth/code/verify', body, guest.identity)).status).toBe(200);
      expect(await isThere(guest.id)).toBe(false);
    },
  );

  it('keeps the higher role in a group of both, and what was mailed for it', async () => {
    const [person, guest] = [await bed.signUp(), await newGuest()];
    const group = (await post('/groups', { name: 'Both' }, person.identity)).body;
    const own = (await post('/groups', { name: 'Own' }, guest.identity)).body;
    for (const [groupId, userId, role] of [
      [group.id, guest.id, 'admin'],
      [own.id, person.user.id, 'member'],
    ])
      await bed.database.query(
        `INSERT INTO group_members (project_number, group_id, user_id, role, joined_at) VALUES ($1, $2, $3, $4, now())`,
        [testProject.number, groupId, userId, role],
      );
    await withPassword(person, guest.identity);
    expect(await groupsOf(person.user.id)).toEqual([
      { group_id: group.id, role: 'owner' },
      { group_id: own.id, role: 'owner' },
    ]);
  });

  it('is merged by the second factor, where there is one, and not by the first alone', async () => {
    const [person, guest] = [await bed.signUp(), await newGuest()];
    const { app } = await setUpApp(bed, person);
    const first = await withPassword(person, guest.identity);
    expect(await isThere(guest.id)).toBe(true);
    const { factorToken } = first.body;
    const verify = (more: object, identity: Identity) =>
      post('/auth/factors/verify', { factorToken, code: app.nextCode(), ...more }, identity);
    expect((await verify({ merge: true }, anonymous())).status).toBe(403);
    const second = await verify({ merge: true }, guest.identity);
    expect(second).toMatchObject({ status: 200, body: { user: { id: person.user.id } } });
    expect(await isThere(guest.id)).toBe(false);
  });

  it('is merged where our page gives the session to the app, but not into another guest', async () => {
    const [person, guest, other] = [await bed.signUp(), await newGuest(), await newGuest()];
    const take = async (identity: Identity) => {
      const { verifier, challenge } = newVerifier();
      const begun = await post('/auth/handover', { returnTo, challenge }, identity);
      const code = new URL(begun.body.url).searchParams.get('code');
      return post('/auth/handover/token', { code, verifier, merge: true }, guest.identity);
    };
    const refused = await take(other.identity);
    expect(refused).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect(await isThere(guest.id)).toBe(true);
    const taken = await take(person.identity);
    expect(taken).toMatchObject({ status: 200, body: { user: { id: person.user.id } } });
    expect(await isThere(guest.id)).toBe(false);
  });

  it('is told of again after two minutes, once, and as erased where the account is gone', async () => {
    await bed.database.query('DELETE FROM merges');
    const [person, leaver] = [await bed.signUp(), await bed.signUp()];
    const [guest, other] = [await newGuest(), await newGuest()];
    await withPassword(person, guest.identity);
    const entered = await withPassword(leaver, other.identity);
    const identity = bed.readIdentity(entered.body.token);
    expect((await bed.call('DELETE', '/auth/me', { identity })).status).toBe(200);
    await bed.takeEvents();
    const run = async () => {
      const process = bed.another();
      await process.start();
      await process.stop();
      return bed.takeEvents();
    };
    expect((await run()).filter(({ topic }) => topic.startsWith('user.'))).toEqual([]);
    bed.clock.pass(2 * minuteMs);
    const events = await run();
    const of = (topic: string) =>
      events.filter((event) => event.topic === topic).map(({ payload }) => payload);
    expect(of('user.merged')).toMatchObject([{ guestId: guest.id, userId: person.user.id }]);
    expect(of('user.erased')).toMatchObject([
      { userId: other.id, email: null },
      { userId: leaver.user.id, email: null },
    ]);
    bed.clock.pass(dayMs);
    expect((await run()).filter(({ topic }) => topic === 'user.merged')).toEqual([]);
  });
});
