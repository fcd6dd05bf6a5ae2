import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

const main = fileURLToPath(new URL('../main.ts', import.meta.url));
const newKey = () => randomBytes(32).toString('base64');
const settings = ['BACKLOT_SECRETS_KEYS', 'BACKLOT_AUTH_MASTER_KEY'];

describe('pnpm ops rotate-master', () => {
  let server: Server;
  let folder: string;
  let file: string;
  let sealed: object;
  beforeAll(async () => {
    server = createServer((req, res) => {
      const isAsked = req.url === '/api/platform/sealed-secrets';
      res.writeHead(isAsked ? 200 : 404, { 'Content-Type': 'application/json' });
      res.end(JSON.stringify(sealed));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    folder = await mkdtemp(join(tmpdir(), 'backlot-master-'));
    file = join(folder, '.env');
  });
  afterAll(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });
  beforeEach(() => {
    sealed = { services: [{ service: 'auth', old: 0, lost: 0 }], missing: [] };
  });

  const ops = (args: string[], env: Record<string, string> = {}) =>
    promisify(execFile)(process.execPath, [main, 'rotate-master', ...args], {
      env: {
        PATH: process.env.PATH ?? '',
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        BACKLOT_HOST: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        BACKLOT_OPERATOR_TOKEN: 'an operator token of a test',
        ...env,
      },
    });
  const refusal = async (args: string[], env: Record<string, string> = {}) => {
    const failed = await ops(args, env).catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: 1, stdout: '' });
    return (failed as { stderr: string }).stderr;
  };
  const ringsIn = (text: string) =>
    settings.map((name) => new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1]?.split(',') ?? []);

  it('puts a new key in front of each ring of a file, and drops the old one when nothing needs it', async () => {
    const [first, second] = [newKey(), newKey()];
    await writeFile(file, `A=1\n${settings[0]}=${first}\n${settings[1]}=${second}\nB=2\n`);
    const { stdout, stderr } = await ops(['add', '--file', file]);
    expect(stderr).toContain('pnpm ops reseal-secrets');
    const added = await readFile(file, 'utf8');
    const rings = ringsIn(added);
    expect(rings).toEqual([
      [expect.any(String), first],
      [expect.any(String), second],
    ]);
    expect(new Set(rings.flat()).size).toBe(4);
    for (const key of rings.flat()) expect(stdout + stderr).not.toContain(key);
    expect(added.split('\n')).toEqual(['A=1', expect.any(String), expect.any(String), 'B=2', '']);
    expect((await stat(file)).mode & 0o777).toBe(0o600);

    sealed = { services: [{ service: 'payments', old: 3, lost: 0 }], missing: [] };
    expect(await refusal(['drop', '--file', file])).toContain(
      'Still under older keys: payments 3.',
    );
    sealed = { services: [], missing: ['auth'] };
    expect(await refusal(['drop', '--file', file])).toContain('Did not answer: auth.');
    expect(await readFile(file, 'utf8')).toBe(added);

    sealed = { services: [{ service: 'payments', old: 0, lost: 1 }], missing: [] };
    await ops(['drop', '--file', file]);
    expect(ringsIn(await readFile(file, 'utf8'))).toEqual(rings.map(([newer]) => [newer]));
    expect(await refusal(['drop', '--file', file])).toContain('There is no older key.');
  });

  it('prints the rings of the environment where no file is named, and refuses what is no ring', async () => {
    const key = newKey();
    const env = { BACKLOT_SECRETS_KEYS: key, BACKLOT_AUTH_MASTER_KEY: key };
    const { stdout } = await ops(['add'], env);
    expect(ringsIn(stdout).map(([, older]) => older)).toEqual([key, key]);
    expect(await refusal(['add'], { ...env, BACKLOT_AUTH_MASTER_KEY: 'no key' })).toContain(
      'BACKLOT_AUTH_MASTER_KEY is not set, or holds what is no key.',
    );
    const full = Array.from({ length: 10 }, newKey).join();
    expect(await refusal(['add'], { ...env, BACKLOT_SECRETS_KEYS: full })).toContain(
      'BACKLOT_SECRETS_KEYS',
    );
  });
});
