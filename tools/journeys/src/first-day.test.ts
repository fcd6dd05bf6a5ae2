import type { Api } from '@backlot/testing/platform-api';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  type PlatformUnderTest,
  platformUnderTest,
  settled,
  upstreamModes,
} from './platform-under-test.ts';

describe.each(upstreamModes)('the first day of an app, services reached %s', (mode) => {
  let platform: PlatformUnderTest;
  let project: { id: string; owner: Account; api: Api };
  let ada: Account;
  let bob: Account;
  beforeAll(async () => {
    platform = await platformUnderTest(mode);
    project = await platform.newProject();
    ada = await platform.signUp(project.id);
    bob = await platform.signUp(project.id);
  });
  afterAll(() => platform.stop());

  it('knows who signed in, and signs in again', async () => {
    const me = await project.api('GET', '/auth/me', { token: ada.token });
    expect(me).toMatchObject({
      status: 200,
      body: { user: { id: ada.id, email: ada.email, role: 'user', emailVerified: false } },
    });
    const again = await project.api('POST', '/auth/signin', {
      body: { email: ` ${ada.email.toUpperCase()} `, password: 'a good long password' },
    });
    expect(again).toMatchObject({ status: 200, body: { user: { id: ada.id } } });
    const wrong = await project.api('POST', '/auth/signin', {
      body: { email: ada.email, password: 'wrong' },
    });
    expect(wrong).toMatchObject({ status: 401, body: { code: 'invalid_credentials' } });
    expect(wrong.headers.get('www-authenticate')).toBe('Bearer');
  });

  it('creates, filters, sorts, counts, patches, replaces and deletes records', async () => {
    const created: { id: string }[] = [];
    for (const data of [
      { title: 'Buy milk', n: 2 },
      { title: 'Call Bob', n: 10 },
      { title: 'Rest', n: 1, done: true },
    ]) {
      const answer = await project.api('POST', '/db/todos', { token: ada.token, body: { data } });
      expect(answer).toMatchObject({ status: 201, body: { ...data, ownerId: ada.id } });
      created.push(answer.body);
    }
    const where = encodeURIComponent(JSON.stringify({ n: { $gte: 2 } }));
    const list = await project.api('GET', `/db/todos?where=${where}&sort=-n`);
    expect(list.body.items.map((item: { n: number }) => item.n)).toEqual([10, 2]);
    expect((await project.api('GET', `/db/todos/_count?where=${where}`)).body).toEqual({
      count: 2,
    });
    const [first, second, third] = created;
    const patched = await project.api('PATCH', `/db/todos/${first?.id}`, {
      token: ada.token,
      body: { data: { done: true }, inc: { n: 5 } },
    });
    expect(patched).toMatchObject({ status: 200, body: { title: 'Buy milk', n: 7, done: true } });
    const replaced = await project.api('PUT', `/db/todos/${second?.id}`, {
      token: ada.token,
      body: { data: { title: 'Nothing' } },
    });
    expect(replaced.body).not.toHaveProperty('n');
    expect(
      await project.api('DELETE', `/db/todos/${third?.id}`, { token: ada.token }),
    ).toMatchObject({ status: 200, body: { ok: true } });
    expect(await project.api('GET', `/db/todos/${third?.id}`)).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
    const mine = await project.api('GET', '/db/todos?mine=1', { token: bob.token });
    expect(mine.body.items).toEqual([]);
  });

  it('keeps private records from other users, and lets their owner and the project’s owner in', async () => {
    const preset = await platform.control('PUT', `/projects/${project.id}/collections/diary`, {
      token: project.owner.token,
      body: { access: 'private' },
    });
    expect(preset).toMatchObject({ status: 200, body: { name: 'diary', access: 'private' } });
    const { body } = await project.api('POST', '/db/diary', {
      token: ada.token,
      body: { data: { text: 'secret' } },
    });
    const path = `/db/diary/${body.id}`;
    expect(await project.api('GET', path)).toMatchObject({ status: 401 });
    expect(await project.api('GET', path, { token: bob.token })).toMatchObject({ status: 404 });
    expect(
      await project.api('PATCH', path, { token: bob.token, body: { data: {} } }),
    ).toMatchObject({ status: 404 });
    expect((await project.api('GET', '/db/diary', { token: bob.token })).body.items).toEqual([]);
    expect((await project.api('GET', '/db/diary/_count', { token: bob.token })).body).toEqual({
      count: 0,
    });
    expect(await project.api('GET', path, { token: ada.token })).toMatchObject({
      status: 200,
      body: { text: 'secret' },
    });
    expect(await project.api('GET', path, { token: project.owner.token })).toMatchObject({
      status: 200,
    });
  });

  it('lets a secret key in until it is revoked', async () => {
    const made = await platform.control('POST', `/projects/${project.id}/keys`, {
      token: project.owner.token,
      body: { name: 'server' },
    });
    expect(made.body.key).toMatch(/^bk_/);
    expect(await project.api('GET', '/db/diary', { token: made.body.key })).toMatchObject({
      status: 200,
      body: { items: [{ text: 'secret' }] },
    });
    await platform.control('DELETE', `/projects/${project.id}/keys/${made.body.id}`, {
      token: project.owner.token,
    });
    expect(
      await settled(() => project.api('GET', '/db/diary', { token: made.body.key }), 401),
    ).toMatchObject({ body: { code: 'invalid_token' } });
  });

  it('ends a session at once when its user signs out', async () => {
    const { body } = await project.api('POST', '/auth/signin', {
      body: { email: bob.email, password: 'a good long password' },
    });
    expect(await project.api('GET', '/auth/me', { token: body.token })).toMatchObject({
      status: 200,
    });
    expect(await project.api('POST', '/auth/signout', { token: body.token })).toMatchObject({
      status: 200,
      body: { ok: true },
    });
    expect(
      await settled(() => project.api('GET', '/auth/me', { token: body.token }), 401),
    ).toMatchObject({ body: { code: 'invalid_token' } });
    expect(await project.api('GET', '/auth/me', { token: bob.token })).toMatchObject({
      status: 200,
    });
  });

  it('pauses, deletes and restores a project', async () => {
    const { id, owner, api } = await platform.newProject();
    const control = (method: string, path = '', body?: unknown) =>
      platform.control(method, `/projects/${id}${path}`, { token: owner.token, body });
    await api('POST', '/db/a', { body: { data: { kept: true } } });
    await control('PATCH', '', { status: 'paused' });
    expect(await settled(() => api('GET', '/db/a'), 403)).toMatchObject({
      body: { code: 'project_paused' },
    });
    await control('PATCH', '', { status: 'active' });
    expect(await settled(() => api('GET', '/db/a'), 200)).toMatchObject({
      body: { items: [{ kept: true }] },
    });
    await control('DELETE');
    expect(await settled(() => api('GET', '/db/a'), 410)).toMatchObject({
      body: { code: 'project_deleted' },
    });
    await control('POST', '/restore');
    expect(await settled(() => api('GET', '/db/a'), 200)).toMatchObject({
      body: { items: [{ kept: true }] },
    });
  });

  it('replays the answer of a repeated Idempotency-Key and makes one record', async () => {
    const send = (data: object) =>
      project.api('POST', '/db/orders', {
        token: ada.token,
        body: { data },
        headers: { 'Idempotency-Key': 'order-1' },
      });
    const first = await send({ n: 1 });
    const second = await send({ n: 1 });
    expect(second).toMatchObject({ status: 201, body: first.body });
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(await send({ n: 2 })).toMatchObject({
      status: 409,
      body: { code: 'idempotency_mismatch' },
    });
    expect((await project.api('GET', '/db/orders/_count')).body).toEqual({ count: 1 });
  });

  it('erases an account and leaves its records to nobody', async () => {
    const eve = await platform.signUp(project.id);
    const { body } = await project.api('POST', '/db/diary', {
      token: eve.token,
      body: { data: { text: 'gone' } },
    });
    expect(await project.api('DELETE', '/auth/me', { token: eve.token })).toMatchObject({
      status: 200,
    });
    await settled(() => project.api('GET', '/auth/me', { token: eve.token }), 401);
    const again = await project.api('POST', '/auth/signup', {
      body: { email: eve.email, password: 'a good long password' },
    });
    expect(again.status).toBe(201);
    expect(
      await project.api('GET', `/db/diary/${body.id}`, { token: again.body.token }),
    ).toMatchObject({ status: 404 });
  });

  it('states limits, request id, CORS and security headers on every answer', async () => {
    const answer = await project.api('GET', '/db/todos', {
      headers: { 'X-Request-Id': 'my-id_1' },
    });
    expect(answer.headers.get('x-request-id')).toBe('my-id_1');
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('ratelimit-policy')).toContain('q=1200');
    expect(answer.headers.get('ratelimit')).toContain('r=');
    const preflight = await project.api('OPTIONS', '/db/todos', {
      headers: { Origin: 'https://x.example', 'Access-Control-Request-Method': 'PATCH' },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-max-age')).toBe('7200');
  });
});
