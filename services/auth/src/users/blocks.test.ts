import type { Identity } from '@backlot/identity';
import { asKey, asOperator, asOwner, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, goodPassword, type TestBed } from '../testing/test-bed.ts';

const powers = { staff: ['block-users'], guide: ['see-users'] };
const project = { ...testProject, powers };
const dayMs = 24 * 3_600_000;
const unknownId = '018f0000-0000-7000-8000-000000000001';

describe('blocks', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const inDays = (days: number) => new Date(bed.clock.now() + days * dayMs).toISOString();
  const patch = (id: string, body: unknown, identity: Identity) =>
    bed.call('PATCH', `/users/${id}`, { identity, body });
  const withRole = async (role: string) => {
    const person = await bed.signUp();
    await bed.call('PATCH', `/users/${person.user.id}`, { identity: asOwner(), body: { role } });
    return { ...person, identity: { ...person.identity, project, role } };
  };
  const me = async (identity: Identity) =>
    (await bed.call('GET', '/auth/me', { identity })).body.user;

  it('are made by the owner, a key, the operator and a role that may, with reason and end', async () => {
    const staff = await withRole('staff');
    for (const identity of [asOwner(), asKey(), asOperator(), staff.identity]) {
      const { user, sessionId, identity: blocked } = await bed.signUp({ name: 'Bo' });
      await bed.takeEvents();
      const until = inDays(7);
      const answer = await patch(user.id, { blocked: true, reason: 'Spam', until }, identity);
      const shown = { id: user.id, name: 'Bo', avatar: null, role: 'user' };
      expect([answer.status, answer.body]).toEqual([
        200,
        { ...shown, blocked: { reason: 'Spam', until } },
      ]);
      const told = { projectNumber: testProject.number, userIds: [user.id] };
      expect(await bed.takeEvents()).toEqual([{ topic: 'user.changed', payload: told }]);
      expect((await bed.findSession(sessionId))?.blocked).toEqual({
        reason: 'Spam',
        until: Date.parse(until),
      });
      expect((await me(blocked)).blocked).toEqual({ reason: 'Spam', until });

      expect((await patch(user.id, { blocked: false }, identity)).body).toEqual(shown);
      expect(await bed.findSession(sessionId)).not.toHaveProperty('blocked');
      expect(await me(blocked)).not.toHaveProperty('blocked');
      await bed.takeEvents();
    }
  });

  it('go without a reason and without an end, and end by themselves', async () => {
    const { user, sessionId, identity } = await bed.signUp();
    await patch(user.id, { blocked: true }, asOwner());
    expect((await bed.findSession(sessionId))?.blocked).toEqual({ reason: null, until: null });
    await patch(user.id, { blocked: true, until: inDays(1) }, asOwner());
    bed.clock.pass(dayMs - 1);
    expect((await bed.findSession(sessionId))?.blocked).toMatchObject({ reason: null });
    bed.clock.pass(1);
    expect(await bed.findSession(sessionId)).not.toHaveProperty('blocked');
    expect(await me(identity)).not.toHaveProperty('blocked');
  });

  it('are not made by other roles, and never of oneself or of whom a role gives powers', async () => {
    const [staff, colleague] = [await withRole('staff'), await withRole('staff')];
    const [guide, user] = [await withRole('guide'), await withRole('member')];
    const refused = async (id: string, identity: Identity) => {
      const answer = await patch(id, { blocked: true }, identity);
      expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
      return answer.body;
    };
    const { hint } = await refused(staff.user.id, user.identity);
    expect(hint).toContain('/roles/member {"may": ["block-users"]}');
    await refused(user.user.id, guide.identity);
    expect((await refused(staff.user.id, staff.identity)).error).toContain('yourself');
    for (const { user: powerful } of [colleague, guide])
      expect((await refused(powerful.id, staff.identity)).error).toContain('the owner blocks');
    expect((await patch(user.user.id, { blocked: true }, staff.identity)).status).toBe(200);
    expect((await patch(guide.user.id, { blocked: true }, asOwner())).status).toBe(200);
  });

  it('are refused where they say nothing, or what can not be', async () => {
    const { user } = await bed.signUp();
    for (const body of [
      {},
      { reason: 'Spam' },
      { until: inDays(1) },
      { blocked: false, reason: 'Sorry' },
      { blocked: true, until: inDays(0) },
      { blocked: true, until: 'tomorrow' },
      { blocked: true, reason: '' },
      { blocked: true, reason: 'x'.repeat(501) },
      { blocked: true, reason: 'a\0b' },
      { blocked: 'yes' },
    ])
      expect(await patch(user.id, body, asOwner())).toMatchObject({
        status: 400,
        body: { code: 'invalid_body' },
      });
    for (const id of [unknownId, 'nonsense'])
      expect((await patch(id, { blocked: true }, asOwner())).status).toBe(404);
    const elsewhere = asOwner({ project: { ...testProject, number: 4711 } });
    expect((await patch(user.id, { blocked: true }, elsewhere)).status).toBe(404);
  });

  it('are set and listed on the control plane too', async () => {
    const { user } = await bed.signUp();
    const path = '/platform/projects/testproject/users';
    const identity = asKey();
    const body = { blocked: true, reason: 'Spam' };
    const set = await bed.call('PATCH', `${path}/${user.id}`, { identity, body });
    expect(set.body.blocked).toEqual({ reason: 'Spam', until: null });
    const { items } = (await bed.call('GET', `${path}?status=blocked`, { identity })).body;
    expect(items).toContainEqual(
      expect.objectContaining({ id: user.id, blocked: set.body.blocked }),
    );
    expect(items.every((listed: object) => 'blocked' in listed)).toBe(true);
    await bed.call('PATCH', `${path}/${user.id}`, { identity, body: { blocked: false } });
    const after = (await bed.call('GET', `${path}?status=blocked`, { identity })).body.items;
    expect(after.map(({ id }: { id: string }) => id)).not.toContain(user.id);
  });

  it('stay with the address of an account that is erased, until their end', async () => {
    const [forDays, forGood, free] = [await bed.signUp(), await bed.signUp(), await bed.signUp()];
    await patch(forDays.user.id, { blocked: true, until: inDays(7) }, asOwner());
    await patch(forGood.user.id, { blocked: true }, asOwner());
    for (const { identity } of [forDays, forGood, free])
      expect((await bed.call('DELETE', '/auth/me', { identity })).status).toBe(200);
    const again = ({ email }: { email: string }) =>
      bed.call('POST', '/auth/signup', { body: { email, password: goodPassword } });
    for (const blocked of [forDays, forGood])
      expect(await again(blocked)).toMatchObject({ status: 403, body: { code: 'sign_up_closed' } });
    expect((await again(free)).status).toBe(201);
    bed.clock.pass(7 * dayMs);
    expect((await again(forDays)).status).toBe(201);
    expect((await again(forGood)).status).toBe(403);
    const kept = await bed.database.acrossProjects(() =>
      bed.database.query('SELECT * FROM blocked_addresses'),
    );
    expect(JSON.stringify(kept)).not.toContain('example.org');
  });

  it('keep the address: a change of it under way does not end meanwhile', async () => {
    const { user, identity, password } = await bed.signUp();
    await bed.takeEvents();
    const body = { email: 'other-name@example.org', password };
    await bed.call('POST', '/auth/change-email', { identity, body });
    const token = await bed.mailedToken();
    await patch(user.id, { blocked: true }, asOwner());
    const follow = () =>
      bed.call('POST', '/auth/change-email/confirm', { body: { token, password } });
    expect(await follow()).toMatchObject({ status: 400, body: { code: 'invalid_link' } });
    expect((await me(identity)).email).toBe(user.email);
    await patch(user.id, { blocked: false }, asOwner());
    expect(await follow()).toMatchObject({ status: 200, body: { changed: true } });
  });
});
