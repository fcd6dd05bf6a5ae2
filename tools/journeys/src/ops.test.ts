import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

const main = fileURLToPath(new URL('../../ops/src/main.ts', import.meta.url));
const operatorToken = 'an-operator-token-for-this-test';

describe('pnpm ops', () => {
  let platform: PlatformUnderTest;
  beforeAll(async () => {
    platform = await platformUnderTest('in-process', { BACKLOT_OPERATOR_TOKEN: operatorToken });
  });
  afterAll(() => platform.stop());

  const ops = async (args: readonly string[], env: Record<string, string> = {}) => {
    const { stdout } = await promisify(execFile)(process.execPath, [main, ...args], {
      env: {
        PATH: process.env.PATH ?? '',
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        BACKLOT_HOST: platform.url,
        BACKLOT_OPERATOR_TOKEN: operatorToken,
        ...env,
      },
    });
    return stdout;
  };
  const json = async (...args: string[]) => JSON.parse(await ops(args));
  const refusal = async (code: number, args: string[], env: Record<string, string> = {}) => {
    const failed = await ops(args, env).catch((error: unknown) => error);
    expect(failed).toMatchObject({ code, stdout: '' });
    return (failed as { stderr: string }).stderr;
  };

  it('lists its commands with what they do', async () => {
    const text = await ops([]);
    expect(text).toMatch(/create-grant \[options\] +Grant credits to an owner/);
    expect(text).toMatch(/list-owners \[options\] +All owners/);
  });

  it('reads and writes as the operator, in JSON', async () => {
    const { email, id } = await platform.signUp('platform');
    const found = await json('list-owners', '--email', email, '--limit', '1');
    expect(found.items).toMatchObject([{ id, email }]);
    const grant = ['--owner-id', id, '--credits', '25', '--reason', 'as agreed'];
    expect(await json('create-grant', ...grant)).toMatchObject({ ownerId: id, credits: 25 });
    const { balanceMillicredits } = await json('get-credits', '--owner-id', id);
    expect(balanceMillicredits).toBeGreaterThanOrEqual(25_000);
  });

  it('passes switches, null and lists on as what they are', async () => {
    const { id, api } = await platform.newProject();
    const { body: user } = await api('POST', '/auth/signup', {
      body: { email: 'member@example.org', password: 'a good long password' },
    });
    const at = ['--project-id', id, '--user-id', user.user.id];
    expect(await json('update-user', ...at, '--blocked', '--reason', 'Spam')).toMatchObject({
      blocked: { reason: 'Spam' },
    });
    const free = await json('update-user', ...at, '--blocked', 'false', '--name', 'null');
    expect(free.blocked).toBeUndefined();
    expect(free.name).toBeNull();
  });

  it('says what is wrong with a name, an option and a value, and that by its exit code', async () => {
    expect(await refusal(2, ['list-ownrs'])).toContain('Did you mean list-owners?');
    expect(await refusal(2, ['list-owners', '--emial', 'x'])).toContain('Did you mean --email?');
    expect(await refusal(2, ['get-project'])).toContain("'--project-id <value>' not specified");
    expect(await refusal(2, ['create-grant', '--credits', 'many'])).toContain('has to be JSON');
    expect(await refusal(1, ['get-project', '--project-id', 'nobodys'])).toContain(
      'no such project',
    );
  });

  it('tells a wrong token from a gateway that is not there', async () => {
    expect(await refusal(1, ['list-owners'], { BACKLOT_OPERATOR_TOKEN: '' })).toBe(
      'BACKLOT_OPERATOR_TOKEN is not set.\n',
    );
    await refusal(1, ['list-owners'], { BACKLOT_OPERATOR_TOKEN: 'of-another-installation' });
    expect(await refusal(3, ['list-owners'], { BACKLOT_HOST: 'http://localhost:1' })).toContain(
      'can not be reached',
    );
  });
});
