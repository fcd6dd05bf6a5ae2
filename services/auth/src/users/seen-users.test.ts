import type { Identity } from '@backlot/identity';
import { asKey, asOperator, asOwner, asUser, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, otherProject, type Person, type TestBed } from '../testing/test-bed.ts';

const powers = { guide: ['see-users'], staff: ['see-users', 'see-emails'], clerk: ['see-emails'] };
const project = { ...testProject, powers };

describe('all users of a project', () => {
  let bed: TestBed;
  const people: Person[] = [];
  beforeAll(async () => {
    bed = await createTestBed();
    for (let n = 0; n < 5; n++) people.unshift(await bed.signUp({ name: `Person ${n}` }));
    await bed.signUp({ project: otherProject });
  });
  afterAll(() => bed.close());

  const withRole = (role: string) => asUser(String(people[0]?.user.id), { role, project });
  const list = (identity: Identity, query = '') => bed.call('GET', `/users${query}`, { identity });

  it('are seen without addresses by a role with see-users, and by keys', async () => {
    const seen = people.map(({ user: { id, name, createdAt } }) => ({
      id,
      name,
      avatar: null,
      role: 'user',
      createdAt,
    }));
    for (const identity of [withRole('guide'), asKey()]) {
      const { body } = await list(identity);
      expect(body).toMatchObject({ items: seen, hasMore: false });
      expect(JSON.stringify(body)).not.toContain('example.org');
    }
  });

  it('are seen with addresses by the owner, the operator and a role with see-emails too', async () => {
    for (const identity of [withRole('staff'), asOwner(), asOperator()])
      expect((await list(identity)).body.items).toMatchObject(
        people.map(({ email }) => ({ email, emailVerified: false })),
      );
  });

  it('are seen by no other role, whatever it is called', async () => {
    for (const role of ['user', 'admin', 'clerk', 'constructor', 'toString'])
      expect(await list(withRole(role))).toMatchObject({
        status: 403,
        body: { code: 'forbidden', hint: expect.stringContaining('{"may": ["see-users"]}') },
      });
  });

  it('come page by page and by role, with who is blocked', async () => {
    const [, second] = people;
    const body = { blocked: true, reason: 'Spam' };
    const path = `/users/${second?.user.id}`;
    await bed.call('PATCH', path, { identity: asOwner(), body: { role: 'editor' } });
    await bed.call('PATCH', path, { identity: asOwner(), body });
    const seen: object[] = [];
    let cursor: string | null = null;
    do {
      const page = await list(withRole('guide'), `?limit=2${cursor ? `&cursor=${cursor}` : ''}`);
      seen.push(...page.body.items);
      cursor = page.body.nextCursor;
    } while (cursor);
    expect(seen).toMatchObject(people.map(({ user: { id } }) => ({ id })));
    expect(seen[1]).toMatchObject({ blocked: { reason: 'Spam', until: null } });
    const editors = (await list(withRole('guide'), '?role=editor')).body.items;
    expect(editors).toMatchObject([{ id: second?.user.id }]);
    for (const query of ['?cursor=made-up', '?role=Not%20one', '?limit=-1'])
      expect((await list(withRole('guide'), query)).status).toBe(400);
  });
});
