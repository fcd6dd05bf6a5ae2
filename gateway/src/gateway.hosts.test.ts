import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestBed, operatorToken, type TestBed } from './testing/test-bed.ts';

describe('host names of projects', () => {
  let bed: TestBed;
  beforeEach(async () => {
    const publicUrl = 'https://backlot.example';
    bed = await createTestBed({ config: { publicUrl, projectHostSuffix: '.apps.example' } });
    bed.fake.hosts.set('api.shop.example', 'demo');
  });
  afterEach(() => bed.close());

  /** `fetch` sends the host of the address. */
  const get = (host: string, path: string, headers: Record<string, string> = {}) =>
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
    new Promise<{ status: number; body: any }>((resolve, reject) => {
      const options = { port: bed.port, path, headers: { ...headers, host } };
      const call = request({ host: '127.0.0.1', ...options }, (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (part) => {
          text += part;
        });
        answer.on('end', () => {
          resolve({ status: answer.statusCode ?? 0, body: text === '' ? {} : JSON.parse(text) });
        });
      });
      call.on('error', reject).end();
    });
  const projectsSeen = () => bed.seen.map(({ identity }) => identity?.project?.id);

  it.each(['demo.apps.example', 'DEMO.apps.example:8443', 'api.shop.example', 'API.shop.example.'])(
    '%s serves the project’s calls below /api, and where they are elsewhere',
    async (host) => {
      expect((await get(host, '/api/db/notes?limit=1')).status).toBe(200);
      expect((await get(host, '/api/runtime/demo/db/notes')).status).toBe(200);
      expect(bed.seen.map(({ url }) => url)).toEqual(['/db/notes?limit=1', '/db/notes']);
      expect(projectsSeen()).toEqual(['demo', 'demo']);
    },
  );

  it.each([
    ['demo.apps.example', '/api/runtime/other/db/notes', 'route_not_found'],
    ['demo.apps.example', '/api/platform/projects', 'route_not_found'],
    ['demo.apps.example', '/', 'route_not_found'],
    ['demo.apps.example', '/console/', 'route_not_found'],
    ['demo.apps.example', '/account', 'route_not_found'],
    ['api.shop.example', '/api', 'route_not_found'],
    ['nobody.apps.example', '/api/db/notes', 'project_not_found'],
    ['a.demo.apps.example', '/api/db/notes', 'project_not_found'],
    ['platform.apps.example', '/api/db/notes', 'route_not_found'],
  ])('%s has nothing of others at %s', async (host, path, code) => {
    const authorization = `Bearer ${operatorToken}`;
    const answer = await get(host, path, { authorization });
    expect(answer).toMatchObject({ status: 404, body: { code } });
    expect(bed.seen).toEqual([]);
  });

  it('are held to the same credentials, limits and paths', async () => {
    const authorization = 'Bearer nonsense';
    expect((await get('demo.apps.example', '/api/db/notes', { authorization })).status).toBe(401);
    expect((await get('demo.apps.example', '/api/db/%2e%2e')).body.code).toBe('invalid_path');
  });

  it('are asked for once for many calls, and never at names of the installation', async () => {
    for (let n = 0; n < 3; n++) await get('api.shop.example', '/api/db/notes');
    const looked = () => bed.fake.asked.filter((question) => question.startsWith('findHost'));
    expect(looked()).toEqual(['findHost api.shop.example']);
    for (const host of [
      'backlot.example',
      '127.0.0.1',
      '[::1]:80',
      'gateway',
      'localhost:8080',
      '',
    ])
      expect((await get(host, '/api/runtime/demo/db/notes')).status).toBe(200);
    expect(looked()).toHaveLength(1);
  });

  it('of nobody are names of the installation', async () => {
    const answer = await get('backlot.elsewhere.example', '/api/runtime/demo/db/notes');
    expect(answer.status).toBe(200);
    expect((await get('backlot.elsewhere.example', '/api/db/notes')).status).toBe(404);
  });

  it('get certificates where something is served alone', async () => {
    const served = ['demo.apps.example', 'api.shop.example', 'backlot.example'];
    const others = ['nobody.apps.example', 'victim.example', '127.0.0.1', '', 'x'.repeat(5000)];
    const check = async (name: string) =>
      (await get('gateway', `/tls-check?domain=${name}`)).status;
    expect(await Promise.all(served.map(check))).toEqual(served.map(() => 200));
    expect(await Promise.all(others.map(check))).toEqual(others.map(() => 404));
    expect((await get('gateway', '/tls-check')).status).toBe(404);
  });

  it('are nobody’s where the setting does not give them', async () => {
    const without = await createTestBed();
    without.fake.hosts.set('api.shop.example', 'demo');
    const answer = await fetch(`${without.url}/tls-check?domain=api.shop.example`);
    expect(answer.status).toBe(404);
    expect(without.fake.asked).toEqual([]);
    await without.close();
  });
});
