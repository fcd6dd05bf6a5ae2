import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type PlatformUnderTest,
  platformUnderTest,
  settled,
  upstreamModes,
} from './platform-under-test.ts';

type Project = Awaited<ReturnType<PlatformUnderTest['newProject']>>;

describe.each(upstreamModes)('roles and teams, services reached %s', (mode) => {
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
  const invitationTo = async (email: string): Promise<string> => {
    const deadline = Date.now() + 10_000;
    for (;;) {
      const { body } = await platform.control('GET', `/projects/${project.id}/emails`, {
        token: platform.operatorToken,
      });
      const mails = body.items as { to: string[]; html: string }[];
      const mail = mails.find(({ to, html }) => to.includes(email) && html.includes('join='));
      const [, token] = /join=([\w-]+)/.exec(mail?.html ?? '') ?? [];
      if (token !== undefined) return token;
      if (Date.now() > deadline) throw new Error(`no invitation to ${email}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };

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
  }, 60_000);

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
    const card = await settled(() => create(ada), 201);
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
    await settled(() => project.api('GET', path, as(bob)), 200);
    const moved = { ...as(bob), body: { data: { title: 'B' } } };
    expect((await project.api('PATCH', path, moved)).status).toBe(200);

    expect((await create(eve)).status).toBe(403);
    for (const hidden of [path, `/groups/${groupId}/members`])
      expect((await project.api('GET', hidden, as(eve))).status).toBe(404);
    const listed = await project.api('GET', `/db/cards?group=${groupId}`, as(eve));
    expect(listed.body.items).toEqual([]);
    const people = await project.api('GET', `/users?ids=${ada.id},${bob.id}`, as(eve));
    expect(people.body.items).toEqual([]);

    await project.api('DELETE', `/groups/${groupId}/members/${bob.id}`, as(ada));
    await settled(() => project.api('GET', path, as(bob)), 404);
  }, 60_000);

  it('tells an admin page who the owner is, by the token of the platform', async () => {
    const { token, email } = project.owner;
    const { body } = await project.api('GET', '/auth/me', { token });
    expect(body).toMatchObject({ caller: 'owner', user: { email } });
    const stranger = await platform.signUp('platform');
    expect((await project.api('GET', '/auth/me', { token: stranger.token })).status).toBe(401);
  });
});
