import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createClient } from '@backlot/client';
import { routes } from '@backlot/contract';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

/** Of examples that need a token which only a mail brings, or an answer of a model that no test has. */
const refusals: Readonly<Record<string, string>> = {
  resetPassword: 'invalid_link',
  verifyEmail: 'invalid_link',
  confirmEmailChange: 'invalid_link',
  joinGroup: 'invalid_link',
};

/** In an order in which each finds what it names, with what fills its path. */
const curlCalls = [
  'signUp',
  'createRecord',
  'listRecords',
  'getRecord',
  'updateRecord',
  'replaceRecord',
  'writeBatch',
  'uploadFile',
  'setProduct',
  'getProject',
  'updateProject',
  'deleteRecord',
] as const;

const AsyncFunction = (async () => {}).constructor as new (
  ...parameters: string[]
) => (...values: unknown[]) => Promise<void>;

const entities: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };

describe('the examples of the documentation', () => {
  let platform: PlatformUnderTest;
  let project: Awaited<ReturnType<PlatformUnderTest['newProject']>>;
  let key: string;
  beforeAll(async () => {
    platform = await platformUnderTest('in-process');
    project = await platform.newProject();
    const path = `/projects/${project.id}`;
    const { token } = project.owner;
    const made = await platform.control('POST', `${path}/keys`, {
      token,
      body: { name: 'docs', scopes: ['read', 'write', 'admin'] },
    });
    key = made.body.key;
    await platform.control('PUT', `${path}/secrets/stripe`, {
      token,
      body: { testCheckout: true },
    });
    const access = {
      read: ['anyone', 'shared'],
      create: ['anyone'],
      change: ['anyone', 'shared'],
      delete: ['anyone'],
    };
    await platform.control('PUT', `${path}/collections/todos`, { token, body: { access } });
  });
  afterAll(() => platform.stop());

  /** As the reader sees it who has entered the project's base address. */
  const example = async (operationId: string, language: string) => {
    const page = await (await fetch(`${platform.url}/docs/api/${operationId}`)).text();
    const [, code] =
      new RegExp(`id="example-${language}".*?<code>(.*?)</code>`, 's').exec(page) ?? [];
    return code
      ?.replace(/<[^>]*>/g, '')
      .replace(/&(#?\w+);/g, (_, name: string) => entities[name] ?? '')
      .replaceAll('/api/runtime/demo', `/api/runtime/${project.id}`)
      .replaceAll('/projects/demo', `/projects/${project.id}`);
  };
  const withClient = routes
    .filter(({ plane }) => plane === 'runtime')
    .map(({ operationId }) => operationId);

  it('of the client do what they say, for each operation that it has', async () => {
    let ran = 0;
    for (const operationId of withClient) {
      const code = await example(operationId, 'SDK');
      if (code === undefined) continue;
      const run = new AsyncFunction(
        'createClient',
        'console',
        code.replace(/^import .*;$/m, '').replace('a secret key', key),
      );
      const done = run(createClient, { log: () => {} }).then(
        () => undefined,
        (error) => error.code ?? String(error),
      );
      expect([operationId, await done]).toEqual([operationId, refusals[operationId]]);
      ran += 1;
    }
    expect(ran).toBeGreaterThan(50);
  });

  it('of fetch and curl do the same, filled in as the form fills them', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'backlot-curl-'));
    await writeFile(join(folder, 'hello.txt'), 'Hello');
    const { body: signedUp } = await project.api('POST', '/auth/signup', {
      body: { email: 'bob@example.org', password: 'a good long password' },
    });
    const places: Record<string, string> = { productId: 'mug' };
    for (const operationId of curlCalls) {
      const route = routes.find((one) => one.operationId === operationId);
      const isOwners = route?.plane === 'platform' || operationId === 'setProduct';
      const token = isOwners ? project.owner.token : signedUp.token;
      const filled = async (language: string) =>
        (await example(operationId, language))?.replace(
          /\{(\w+)\}/g,
          (whole, name) => places[name] ?? whole,
        ) ?? '';
      const { stdout } = await promisify(execFile)('sh', ['-c', await filled('curl')], {
        cwd: folder,
        env: { ...process.env, TOKEN: token },
      });
      const answer = stdout === '' ? {} : JSON.parse(stdout);
      expect([operationId, answer.error]).toEqual([operationId, undefined]);
      if (operationId === 'createRecord') places.id = answer.id;

      // Once is enough of what can be done but once.
      if (['deleteRecord', 'signUp'].includes(operationId)) continue;
      const printed: unknown[] = [];
      const code = (await filled('fetch')).replace("'a token'", JSON.stringify(token));
      await new AsyncFunction('console', code)({
        log: (...values: unknown[]) => printed.push(...values),
      });
      expect([operationId, printed[0]]).toEqual([operationId, route?.status]);
    }
    await rm(folder, { recursive: true });
  });
});
