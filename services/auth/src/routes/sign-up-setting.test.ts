import type { Identity } from '@backlot/identity';
import { anonymous, asKey, asOperator, asOwner, asUser, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestGroup } from '../testing/groups.ts';
import { createTestBed, goodPassword, platform, type TestBed } from '../testing/test-bed.ts';

describe('who can sign up', () => {
  let bed: TestBed;
  let count = 0;
  beforeAll(async () => {
    bed = await createTestBed({ limits: { signUpPerIp: { max: 1000, windowMs: 1000 } } });
  });
  afterAll(() => bed.close());

  const inProject = (signUp: unknown) => ({ ...testProject, settings: { signUp } });
  const newEmail = () => `new${++count}@example.org`;
  const signUp = (who: unknown, body: object = {}, as = anonymous()) =>
    bed.call('POST', '/auth/signup', {
      identity: { ...as, project: inProject(who) },
      body: { email: newEmail(), password: goodPassword, ...body },
    });
  const isClosed = { status: 403, body: { code: 'sign_up_closed' } };

  const invite = async (email = newEmail()) => {
    const { group, owner } = await createTestGroup(bed);
    await bed.takeEvents();
    const body = { email, role: 'member' };
    await bed.call('POST', `/groups/${group.id}/invites`, { identity: owner.identity, body });
    return { group, token: await bed.mailedToken() };
  };

  it('is anyone unless the owner says otherwise', async () => {
    expect((await signUp('anyone')).status).toBe(201);
    expect((await signUp(undefined)).status).toBe(201);
  });

  it('is asked of owners, too, where the operator says so of the project platform', async () => {
    const project = { ...platform, settings: { signUp: 'nobody' } };
    const body = { email: newEmail(), password: goodPassword };
    const path = '/auth/signup';
    const asked = (identity: Identity) => bed.call('POST', path, { identity, body });
    expect(await asked(anonymous({ project }))).toMatchObject(isClosed);
    expect((await asked(asOperator({ project }))).status).toBe(201);
  });

  it('nobody is the owner and keys, who make accounts', async () => {
    const { identity } = await bed.signUp();
    for (const as of [anonymous(), asUser(String(identity.userId))])
      expect(await signUp('nobody', {}, as)).toMatchObject(isClosed);
    const { token } = await invite();
    expect(await signUp('nobody', { invitation: token })).toMatchObject(isClosed);
    for (const as of [asOwner(), asKey()])
      expect((await signUp('nobody', {}, as)).status).toBe(201);
  });

  it('domains are exactly these, in every spelling', async () => {
    const only = { domains: ['example.org', 'xn--bcher-kva.example'] };
    for (const email of ['a@EXAMPLE.org', ' b@example.org ', 'c@bücher.example'])
      expect((await signUp(only, { email })).status).toBe(201);
    const others = ['example.com', 'sub.example.org', 'notexample.org', 'example.org.evil.test'];
    for (const email of others.map((domain) => `a@${domain}`))
      expect(await signUp(only, { email })).toMatchObject(isClosed);
  });

  it('domains bind who takes another address later, too', async () => {
    const { identity } = await bed.signUp();
    const only = { domains: ['example.org'] };
    const change = (email: string) =>
      bed.call('POST', '/auth/change-email', {
        identity: { ...identity, project: inProject(only) },
        body: { email, password: goodPassword },
      });
    await bed.takeEvents();
    expect(await change('new@evil.example')).toMatchObject(isClosed);
    expect(await bed.takeEvents()).toEqual([]);
    expect((await change(newEmail())).status).toBe(200);
  });

  it('says the same of an address that has an account and of one that has none', async () => {
    const { email } = await bed.signUp();
    for (const who of ['nobody', 'invited', { domains: ['other.example'] }]) {
      const [known, unknown] = [await signUp(who, { email }), await signUp(who)];
      expect(known).toMatchObject(isClosed);
      const { requestId: _one, ...first } = known.body;
      const { requestId: _other, ...second } = unknown.body;
      expect(first).toEqual(second);
    }
  });

  it('invited is who brings an open invitation, which makes one account and one member', async () => {
    const { group, token } = await invite();
    expect(await signUp('invited')).toMatchObject(isClosed);
    expect(await signUp('invited', { invitation: 'made-up' })).toMatchObject(isClosed);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => signUp('invited', { invitation: token })),
    );
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(1);
    const { sessionId } = bed.readIdentity(made[0]?.body.token);
    expect((await bed.findSession(sessionId))?.groups).toEqual([{ id: group.id, role: 'member' }]);
    const others = answers.filter(({ status }) => status !== 201).map(({ body }) => body.code);
    expect(others.every((code) => code === 'sign_up_closed' || code === 'invalid_link')).toBe(true);
    const listed = await bed.call('GET', '/platform/projects/testproject/users?limit=1000', {
      identity: asOwner(),
    });
    const emails = listed.body.items.map((user: { email: string }) => user.email);
    for (const { body } of made) expect(emails).toContain(body.user.email);
    expect(await signUp('invited', { invitation: token })).toMatchObject(isClosed);
  });

  it('an invitation is good elsewhere, too, and one that is none makes no account', async () => {
    const { group, token } = await invite();
    const email = newEmail();
    const wrong = await signUp('anyone', { email, invitation: 'made-up' });
    expect(wrong).toMatchObject({ status: 400, body: { code: 'invalid_link' } });
    const right = await signUp('anyone', { email, invitation: token });
    expect(right.status).toBe(201);
    const { sessionId } = bed.readIdentity(right.body.token);
    expect((await bed.findSession(sessionId))?.groups).toEqual([{ id: group.id, role: 'member' }]);
  });
});
