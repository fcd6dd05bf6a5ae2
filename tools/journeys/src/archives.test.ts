import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PlatformUnderTest, platformUnderTest, usualModes } from './platform-under-test.ts';

const password = 'a good long password';

describe.each(usualModes)('a project as an archive, services reached %s', (mode) => {
  let platform: PlatformUnderTest;
  let project: Awaited<ReturnType<PlatformUnderTest['newProject']>>;
  let user: Awaited<ReturnType<PlatformUnderTest['signUp']>>;
  let fileId: string;

  const asOwner = () => ({ token: project.owner.token });

  const readExport = async (id: string, query = 'files=1&passwords=1') => {
    const response = await fetch(`${platform.url}/api/platform/projects/${id}/export?${query}`, {
      headers: { authorization: `Bearer ${project.owner.token}` },
    });
    expect(response.status).toBe(200);
    return Buffer.from(await response.arrayBuffer());
  };

  const importOf = async (archive: Uint8Array, query = '') => {
    const response = await fetch(`${platform.url}/api/platform/projects/import${query}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${project.owner.token}`,
        'content-type': 'application/x-tar',
      },
      body: new Uint8Array(archive),
    });
    return { status: response.status, body: JSON.parse(await response.text()) };
  };

  const projectIds = async (): Promise<string[]> => {
    const { body } = await platform.control('GET', '/projects', asOwner());
    return body.items.map(({ id }: { id: string }) => id);
  };

  const upload = async (fields: Record<string, string>, content: string) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append('file', new Blob([content]), 'grüße.txt');
    const response = await fetch(`${platform.url}/api/runtime/${project.id}/storage/upload`, {
      method: 'POST',
      headers: { authorization: `Bearer ${user.token}` },
      body: form,
    });
    return JSON.parse(await response.text()).id as string;
  };

  beforeAll(async () => {
    platform = await platformUnderTest(mode);
    project = await platform.newProject();
    user = await platform.signUp(project.id);
    const set = (path: string, body: object) =>
      platform.control('PUT', `/projects/${project.id}${path}`, { ...asOwner(), body });
    await set('/collections/orders', {
      access: { read: ['owner', 'role:staff'], create: ['users'], change: ['owner'] },
      schema: { properties: { title: { type: 'string' } } },
      unique: ['title'],
      indexes: ['price'],
    });
    await set('/prompts/greet', { system: 'Greet.', callers: ['anyone'] });
    await set('/roles/staff', { may: ['see-users'] });
    const { api } = project;
    const token = user.token;
    for (let at = 0; at < 12; at += 1) {
      const items = Array.from({ length: 50 }, (_, n) => ({
        data: { title: `Order ${at}/${n} ü`, price: n / 4, nested: { list: [1, 'a', null] } },
      }));
      await api('POST', '/db/orders/_batch', { token, body: { create: items } });
    }
    const note = await api('POST', '/db/notes', {
      token,
      body: { data: { n: 0.5, groupId: 'x' } },
    });
    await api('PATCH', `/db/notes/${note.body.id}`, { token, body: { inc: { n: 1.5 } } });
    const group = await api('POST', '/groups', { token, body: { name: 'Friends' } });
    await api('PATCH', '/auth/me', { token, body: { name: 'Ute', profile: { plan: 'free' } } });
    fileId = await upload({ visibility: 'private', groupId: group.body.id }, 'of the group');
    await upload({ collection: 'notes', recordId: note.body.id }, 'of the note');
  });
  afterAll(() => platform.stop());

  it('comes back as it was, byte for byte but for the id of the project', async () => {
    const first = await readExport(project.id);
    const made = await importOf(first);
    expect([made.status, made.body.left]).toEqual([201, []]);
    const { id } = made.body.project;
    const second = await readExport(id);
    const toText = (archive: Buffer) =>
      archive.toString('latin1').replaceAll(/("verifiedBy":"[^"]*\.)[^"]*/g, '$1');
    expect(toText(second).replaceAll(id, project.id) === toText(first)).toBe(true);

    const api = platform.runtime(id);
    const session = await api('POST', '/auth/signin', { body: { email: user.email, password } });
    expect(session.status).toBe(200);
    const { token } = session.body;
    expect((await api('GET', '/db/orders?total=1&limit=1', { token })).body.total).toBe(600);
    expect((await api('GET', '/db/notes', { token })).body.items[0].n).toBe(2);
    expect((await api('GET', '/groups', { token })).body.items).toMatchObject([
      { name: 'Friends' },
    ]);
    const url = `${platform.url}/api/runtime/${id}/storage/files/${fileId}/a.txt`;
    const file = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    expect(await file.text()).toBe('of the group');
    expect((await fetch(url)).status).toBe(404);
  });

  it('keeps passwords to itself unless they are asked for', async () => {
    const archive = await readExport(project.id, 'files=1');
    expect(archive.includes('argon2')).toBe(false);
    const { body } = await importOf(archive, '?name=Second');
    expect(body.project.name).toBe('Second');
    const api = platform.runtime(body.project.id);
    const session = await api('POST', '/auth/signin', { body: { email: user.email, password } });
    expect(session.status).toBe(401);
    expect((await readExport(body.project.id, 'files=1')).length).toBe(archive.length);
  });

  it('leaves nothing of what is not whole', async () => {
    const archive = await readExport(project.id);
    const before = await projectIds();
    for (const end of [
      0,
      700,
      1024,
      archive.length / 2,
      archive.length - 1024,
      archive.length - 1,
    ]) {
      const { status, body } = await importOf(archive.subarray(0, Math.floor(end)));
      expect([end, status, body.code]).toEqual([end, 400, 'invalid_body']);
    }
    expect(await projectIds()).toEqual(before);
  });

  it('is copied with what is asked for', async () => {
    const copy = (body: object) =>
      platform.control('POST', `/projects/${project.id}/copy`, { ...asOwner(), body });
    const empty = await copy({ name: 'Empty' });
    expect([empty.status, empty.body.left]).toEqual([201, []]);
    const roles = await platform.control(
      'GET',
      `/projects/${empty.body.project.id}/roles`,
      asOwner(),
    );
    expect(roles.body.items).toEqual([{ name: 'staff', may: ['see-users'] }]);
    const whole = await copy({ name: 'Whole', records: true, files: true });
    expect(whole.status).toBe(201);
    const { id } = whole.body.project;
    const listed = await platform.control('GET', `/projects/${id}/files`, asOwner());
    expect(listed.body.items).toHaveLength(2);
    const all = await platform.control('GET', `/projects/${id}/collections`, asOwner());
    const counts = all.body.items.map(({ name, count }: { name: string; count: number }) => [
      name,
      count,
    ]);
    expect(Object.fromEntries(counts)).toEqual({ notes: 1, orders: 600 });
  });
});
