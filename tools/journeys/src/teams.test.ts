import { until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type PlatformUnderTest,
  platformUnderTest,
  settled,
  usualModes,
} from './platform-under-test.ts';

type Project = Awaited<ReturnType<PlatformUnderTest['newProject']>>;

describe.each(usualModes)('roles and teams, services reached %s', (mode) => {
  let platform: PlatformUnderTest;
  let project: Project;
  beforeAll(async () => {
    platform = await platformUnderTest(mode);
    project = await platform.newProject();
    await setAccess('goods', 'catalog');
    await setAccess('cards', 'team');
  }, 300_000);
  afterAll(() => platform?.stop());

  const setAccess = (collection: string, access: string) =>
    platform.control('PUT', `/projects/${project.id}/collections/${collection}`, {
      token: project.owner.token,
      body: { access },
    });
  const setRole = (userId: string, role: string) =>
    platform.control('PATCH', `/projects/${project.id}/users/${userId}`, {
      token: project.owner.token,
      body: { role },
    });
  /** The token of the mail that invites this address. */
  const invitationTo = (email: string): Promise<string> =>
    until(
      async () => {
        const { body } = await platform.control('GET', `/projects/${project.id}/emails`, {
          token: platform.operatorToken,
        });
        const mails = body.items as { to: string[]; html: string }[];
        const mail = mails.find(({ to, html }) => to.includes(email) && html.includes('join='));
        return /join=([\w-]+)/.exec(mail?.html ?? '')?.[1];
      },
      { what: `an invitation to ${email}` },
    );

  it('takes from who is demoted what their role gave, within five seconds, under load', async () => {
    const { id, token } = await platform.signUp(project.id);
    const write = () => project.api('POST', '/db/goods', { token, body: { data: {} } });
    expect((await write()).status).toBe(403);
    await setRole(id, 'staff');
    await settled(write, 201);

    let isOver = false;
    const accepted: number[] = [];
    const workers = Array.from({ length: 8 }, async () => {
      while (!isOver) {
        const startedAt = Date.now();
        if ((await write()).status === 201) accepted.push(startedAt);
      }
    });
    await settled(write, 201);
    await setRole(id, 'user');
    const demotedAt = Date.now();
    await settled(write, 403);
    await new Promise((resolve) => setTimeout(resolve, 500));
    isOver = true;
    await Promise.all(workers);
    expect(accepted.length).toBeGreaterThan(0);
    expect(accepted.filter((startedAt) => startedAt > demotedAt + 5000)).toEqual([]);
    expect((await write()).status).toBe(403);
  });

  it('takes every write from who a moderator blocks, within five seconds, under load', async () => {
    const [eve, staff] = [await platform.signUp(project.id), await platform.signUp(project.id)];
    await setRole(staff.id, 'staff');
    await platform.control('PUT', `/projects/${project.id}/roles/staff`, {
      token: project.owner.token,
      body: { may: ['block-users'] },
    });
    await setAccess('chat', 'members');
    const as = { token: eve.token };
    const write = () => project.api('POST', '/db/chat', { ...as, body: { data: {} } });
    expect((await write()).status).toBe(201);
    const block = () =>
      project.api('PATCH', `/users/${eve.id}`, {
        token: staff.token,
        body: { blocked: true, reason: 'Spam' },
      });

    let isOver = false;
    const accepted: number[] = [];
    const workers = Array.from({ length: 50 }, async () => {
      while (!isOver) {
        const startedAt = Date.now();
        const { status } = await write();
        if (status === 201) accepted.push(startedAt);
        if (status === 429) await new Promise((resolve) => setTimeout(resolve, 50));
      }
    });
    await settled(block, 200);
    const blockedAt = Date.now();
    await settled(write, 403);
    await new Promise((resolve) => setTimeout(resolve, 500));
    isOver = true;
    await Promise.all(workers);
    expect(accepted.length).toBeGreaterThan(0);
    expect(accepted.filter((startedAt) => startedAt > blockedAt + 5000)).toEqual([]);

    const writes = [
      ['POST', '/groups', { name: 'Red' }],
      ['PATCH', '/auth/me', { name: 'Eve' }],
      ['POST', '/ai', { prompt: 'Hello' }],
      ['POST', '/email/send', { to: 'a@example.org', subject: 'Hi', html: 'Hi' }],
      ['POST', '/storage/uploads', { name: 'a.png', size: 3 }],
      ['POST', '/payments/checkout', {}],
    ] as const;
    /** The workers have used up what a user may call in a minute. */
    const whenFree = (method: string, path: string, body: object) =>
      until(
        async () => {
          const answer = await project.api(method, path, { ...as, body });
          return answer.status === 429 ? undefined : answer;
        },
        { what: `a place for ${path}` },
      );
    for (const [method, path, body] of writes)
      expect([path, await whenFree(method, path, body)]).toMatchObject([
        path,
        { status: 403, body: { code: 'blocked', error: 'This account is blocked: Spam' } },
      ]);
    const chat = await project.api('GET', '/db/chat', as);
    expect([chat.status, (await project.api('GET', '/db/goods', as)).status]).toEqual([403, 200]);
    const me = await project.api('GET', '/auth/me', as);
    expect(me.body.user).toMatchObject({ blocked: { reason: 'Spam', until: null } });
    expect((await whenFree('POST', '/auth/signout', {})).status).toBe(200);
  });

  it('lets a team share its records, and nobody join or look in uninvited', async () => {
    const [ada, bob, eve] = [
      await platform.signUp(project.id),
      await platform.signUp(project.id),
      await platform.signUp(project.id),
    ];
    const as = ({ token }: { token: string }) => ({ token });
    const team = await project.api('POST', '/groups', { ...as(ada), body: { name: 'Red' } });
    const groupId = String(team.body.id);
    const create = (who: { token: string }) =>
      project.api('POST', '/db/cards', { ...as(who), body: { data: { title: 'A' }, groupId } });
    const card = await create(ada);
    expect(card.status).toBe(201);
    const path = `/db/cards/${card.body.id}`;

    await project.api('POST', `/groups/${groupId}/invites`, {
      ...as(ada),
      body: { email: bob.email },
    });
    const token = await invitationTo(bob.email);
    const join = (who: { token: string }) =>
      project.api('POST', '/groups/join', { ...as(who), body: { token } });
    expect((await join(bob)).status).toBe(200);
    expect((await join(eve)).body.code).toBe('invalid_link');
    expect((await project.api('GET', path, as(bob))).status).toBe(200);
    const moved = { ...as(bob), body: { data: { title: 'B' } } };
    expect((await project.api('PATCH', path, moved)).status).toBe(200);

    expect((await create(eve)).status).toBe(403);
    for (const hidden of [path, `/groups/${groupId}/members`])
      expect((await project.api('GET', hidden, as(eve))).status).toBe(404);
    const listed = await project.api('GET', `/db/cards?group=${groupId}`, as(eve));
    expect(listed.body.items).toEqual([]);
    const people = await project.api('GET', `/users?ids=${ada.id},${bob.id}`, as(eve));
    expect(people.body.items).toHaveLength(2);
    expect(JSON.stringify(people.body)).not.toContain('@');

    await project.api('DELETE', `/groups/${groupId}/members/${bob.id}`, as(ada));
    await settled(() => project.api('GET', path, as(bob)), 404);
  });

  it('opens the private files of a team to its members, until they leave', async () => {
    const [ada, bob, eve] = [
      await platform.signUp(project.id),
      await platform.signUp(project.id),
      await platform.signUp(project.id),
    ];
    const team = await project.api('POST', '/groups', { token: ada.token, body: { name: 'Red' } });
    const groupId = String(team.body.id);
    await project.api('POST', `/groups/${groupId}/invites`, {
      token: ada.token,
      body: { email: bob.email },
    });
    const body = { token: await invitationTo(bob.email) };
    expect((await project.api('POST', '/groups/join', { token: bob.token, body })).status).toBe(
      200,
    );

    const upload = async ({ token }: { token: string }) => {
      const form = new FormData();
      form.append('groupId', groupId);
      form.append('file', new Blob(['ours']), 'plan.txt');
      const response = await fetch(`${platform.url}/api/runtime/${project.id}/storage/upload`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: form,
      });
      const { status, headers } = response;
      return { status, headers, body: JSON.parse(await response.text()) };
    };
    const { url, id } = (await upload(bob)).body;
    const open = async ({ token }: { token: string }) => {
      const authorization = `Bearer ${token}`;
      const { status, headers } = await fetch(url, { headers: { authorization } });
      return { status, headers, body: null };
    };
    expect(await open(ada)).toMatchObject({ status: 200 });
    expect(await open(bob)).toMatchObject({ status: 200 });
    expect(await open(eve)).toMatchObject({ status: 404 });
    expect((await upload(eve)).status).toBe(403);
    const listed = await project.api('GET', `/storage/files?group=${groupId}`, ada);
    expect(listed.body.items).toMatchObject([{ id, ownerId: bob.id, groupId }]);

    await project.api('DELETE', `/groups/${groupId}/members/${bob.id}`, { token: ada.token });
    await settled(() => open(bob), 404);
    expect((await project.api('DELETE', `/storage/files/${id}`, bob)).status).toBe(404);
    expect((await project.api('DELETE', `/storage/files/${id}`, ada)).status).toBe(200);
  });

  it('opens the picture of a user as its file does: none of another project, nobody’s private one', async () => {
    const [ada, bob] = [await platform.signUp(project.id), await platform.signUp(project.id)];
    const upload = async (projectId: string, token: string, visibility: string) => {
      const form = new FormData();
      form.set('visibility', visibility);
      form.set('file', new Blob(['picture']), 'me.txt');
      const response = await fetch(`${platform.url}/api/runtime/${projectId}/storage/upload`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}` },
        body: form,
      });
      return String(((await response.json()) as { id: string }).id);
    };
    const show = async (avatar: string, token?: string) => {
      const set = { token: ada.token, body: { avatar } };
      const { body } = await project.api('PATCH', '/auth/me', set);
      const path = `/storage/files/${body.user.avatar}/avatar`;
      return (await project.api('GET', path, token === undefined ? {} : { token })).status;
    };
    const elsewhere = await platform.newProject();
    const own = await upload(project.id, ada.token, 'public');
    const hidden = await upload(project.id, bob.token, 'private');
    const foreign = await upload(elsewhere.id, elsewhere.owner.token, 'public');
    expect(await show(own)).toBe(200);
    expect(await show(own, bob.token)).toBe(200);
    for (const avatar of [hidden, foreign]) {
      expect(await show(avatar)).toBe(404);
      expect(await show(avatar, ada.token)).toBe(404);
    }
  });

  it('shares a record with an address, of somebody who is there and of somebody who comes later', async () => {
    const access = { read: ['owner', 'shared'], create: ['users'], change: ['owner', 'shared'] };
    await platform.control('PUT', `/projects/${project.id}/collections/notes`, {
      token: project.owner.token,
      body: { access },
    });
    const verify = (id: string) =>
      platform.control('PATCH', `/projects/${project.id}/users/${id}`, {
        token: platform.operatorToken,
        body: { emailVerified: true },
      });
    const [ada, bob, eve] = [
      await platform.signUp(project.id),
      await platform.signUp(project.id),
      await platform.signUp(project.id),
    ];
    await verify(bob.id);
    const { token } = ada;
    const note = await project.api('POST', '/db/notes', { token, body: { data: { a: 1 } } });
    const path = `/db/notes/${note.body.id}`;
    const later = `later-${note.body.id}@example.org`;
    const answers = [];
    for (const email of [bob.email, later, eve.email]) {
      const { status, body } = await project.api('PUT', `${path}/_shares`, {
        token,
        body: { email, may: 'read' },
      });
      answers.push({ status, body: { ...body, email: '', createdAt: '' } });
    }
    const same = { status: 200, body: { email: '', may: 'read', createdAt: '' } };
    expect(answers).toEqual([same, same, same]);
    const read = (who: { token: string }) => () => project.api('GET', path, { token: who.token });
    await settled(read(bob), 200);
    const body = { email: later, password: 'a good long password' };
    const newcomer = (await project.api('POST', '/auth/signup', { body })).body;
    expect((await read({ token: String(newcomer.token) })()).status).toBe(404);
    await verify(newcomer.user.id);
    await settled(read({ token: String(newcomer.token) }), 200);
    expect((await read(eve)()).status).toBe(404);
    await project.api('DELETE', `${path}/_shares/${encodeURIComponent(later)}`, { token });
    expect((await read({ token: String(newcomer.token) })()).status).toBe(404);
  });

  it('tells an admin page who the owner is, by the token of the platform', async () => {
    const { token, email } = project.owner;
    const { body } = await project.api('GET', '/auth/me', { token });
    expect(body).toMatchObject({ caller: 'owner', user: { email } });
    const stranger = await platform.signUp('platform');
    expect((await project.api('GET', '/auth/me', { token: stranger.token })).status).toBe(401);
  });
});
