import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { CallLogItem, LoggedCall } from '@backlot/contract';
import { type ReceivedEvents, receiveEvents, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PlatformUnderTest, platformUnderTest, upstreamModes } from './platform-under-test.ts';

const main = fileURLToPath(new URL('../../../packages/cli/src/main.ts', import.meta.url));

describe.each(upstreamModes)('live calls (%s)', (mode) => {
  let platform: PlatformUnderTest;
  let project: Awaited<ReturnType<PlatformUnderTest['newProject']>>;
  const opened: ReceivedEvents[] = [];
  beforeAll(async () => {
    platform = await platformUnderTest(mode);
    project = await platform.newProject();
  });
  afterAll(async () => {
    for (const stream of opened) stream.close();
    await platform.stop();
  });

  const base = () => `/projects/${project.id}/requests`;
  const list = async (query = ''): Promise<CallLogItem[]> => {
    const { token } = project.owner;
    const { status, body } = await platform.control('GET', `${base()}${query}`, { token });
    expect(status).toBe(200);
    return body.items;
  };
  const open = async (token: string, query = '') => {
    const url = `${platform.url}/api/platform${base()}/stream${query}`;
    const stream = await receiveEvents(url, { authorization: `Bearer ${token}` });
    opened.push(stream);
    return stream;
  };

  it('show a failing call soon, with its error, hint and the names of its fields', async () => {
    const stream = await open(project.owner.token, '?status=failed');
    await stream.take(1, 'ready');
    await project.api('POST', '/db/todos', { body: { data: { title: 'x' } } });
    const answer = await project.api('POST', '/db/todos', { body: { title: 'Private words' } });
    expect(answer.status).toBe(400);
    const [failed] = await stream.take(1, 'call');
    expect(failed?.data).toMatchObject({
      method: 'POST',
      route: '/db/:collection',
      path: '/db/todos',
      status: 400,
      code: answer.body.code,
      error: answer.body.error,
      fields: ['title'],
      caller: 'visitor',
      requestId: answer.body.requestId,
    });
    expect(stream.text()).not.toContain('Private words');
    const lines = (await list()) as (LoggedCall & { type: string })[];
    expect(lines.map(({ status }) => status)).toEqual([400, 201]);
  });

  it('are told to nobody but the owner, the operator and keys of the project', async () => {
    const { id, owner } = project;
    const stranger = await platform.newProject();
    const user = await platform.signUp(id);
    const newKey = async (of: typeof project) => {
      const { body } = await platform.control('POST', `/projects/${of.id}/keys`, {
        token: of.owner.token,
        body: { name: 'reader', scopes: ['read'] },
      });
      return String(body.key);
    };
    const [own, foreign] = [await newKey(project), await newKey(stranger)];
    for (const token of [owner.token, platform.operatorToken, own]) {
      expect((await platform.control('GET', base(), { token })).status).toBe(200);
      expect((await open(token)).status).toBe(200);
    }
    for (const token of [stranger.owner.token, user.token, foreign]) {
      expect([401, 403, 404]).toContain((await platform.control('GET', base(), { token })).status);
      expect([401, 403, 404]).toContain((await open(token)).status);
    }
    expect((await platform.control('GET', base())).status).toBe(401);
  });

  it('hold no token, password, key or value, wherever a call has one', async () => {
    const secret = () => randomBytes(24).toString('base64url');
    const password = `P${secret()}`;
    const [inHeader, inQuery, inBody] = [secret(), secret(), secret()];
    const { token } = project.owner;
    const key = `bk_${randomBytes(32).toString('base64url')}`;
    const { api } = project;
    const email = 'somebody-private@example.org';
    const headers = { 'x-api-key': inHeader, cookie: `s=${inHeader}`, referer: inHeader };
    await api('POST', '/auth/signup', { headers, body: { email, password } });
    await api('POST', '/auth/signin', { headers, body: { email, password: `${password}x` } });
    await api('POST', '/auth/reset', { headers, body: { token: inBody, password } });
    await api('POST', '/auth/verify', { headers, body: { token: key } });
    await api('GET', `/db/todos?where=${encodeURIComponent(JSON.stringify({ $x: inQuery }))}`);
    await api('GET', `/db/todos?${inQuery}=${inQuery}`);
    await api('GET', `/db/todos?limit=${inQuery}`, { token: key });
    await api('POST', `/db/${key}`, { body: { data: { [inBody]: inBody } } });
    await api('POST', '/db/todos', { body: { data: inBody, [key]: inBody } });
    await api('POST', '/ai', { token, body: { model: inBody, messages: [{ role: inBody }] } });
    await api('PATCH', `/db/todos/${secret()}`, { token, body: { inc: { a: inBody } } });
    await api('GET', `/files/${inQuery}`, { token });
    await api('POST', '/db/last', { body: { nothing: 1 } });
    await until(async () => (await list('?path=/db/last')).length === 1);
    const text = JSON.stringify(await list('?limit=1000'));
    for (const one of [password, inHeader, inQuery, inBody, key, token, email, '127.0.0.1'])
      expect(text).not.toContain(one);
  });

  it('are listed for coding agents by the tool list_errors', async () => {
    const path = `/projects/${project.id}/mcp`;
    const call = (name: string, args: object) =>
      platform.control('POST', path, {
        token: project.owner.token,
        headers: { accept: 'application/json, text/event-stream' },
        body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
      });
    await project.api('GET', '/nowhere/agent');
    await until(async () => (await list('?path=/nowhere/agent')).length === 1);
    const { body } = await call('list_errors', { path: '/nowhere', limit: 5 });
    const text = JSON.stringify(body);
    expect(text).toContain('/nowhere/agent');
    expect(text).toContain('route_not_found');
    expect(text).not.toContain('\\"status\\":201');
  });

  it('follow in a terminal', async () => {
    const args = [main, 'logs', project.id, '--follow', '--errors', '--path', '/db/'];
    const child = spawn(process.execPath, args, {
      env: {
        PATH: process.env.PATH,
        XDG_CONFIG_HOME: '/nowhere',
        BACKLOT_HOST: platform.url,
        BACKLOT_KEY: project.owner.token,
      },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
      });
    await until(() => output.includes('/db/last'));
    let n = 0;
    await until(async () => {
      n += 1;
      await project.api('POST', `/db/terminal-${n}`, { body: { wrong: 1 } });
      return output.includes('/db/terminal-');
    });
    expect(output).toMatch(/ 400 POST \/db\/terminal-\d+ \d+ ms visitor\n {2}invalid_body: /);
    expect(output).toContain('  fields: wrong\n');
    expect(output).not.toContain('/nowhere');
    child.kill('SIGKILL');
  });

  it('are gone with the user who made them', async () => {
    const user = await platform.signUp(project.id);
    await project.api('GET', '/auth/me', { token: user.token });
    await until(async () => (await list(`?userId=${user.id}`)).length > 0);
    const { status } = await project.api('DELETE', '/auth/me', { token: user.token });
    expect(status).toBe(200);
    await until(async () => (await list(`?userId=${user.id}`)).length === 0);
  });
});
