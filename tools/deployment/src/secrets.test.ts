import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownSettingName } from '@backlot/contract';
import { checkIdentityKeys, parseIdentityKeys } from '@backlot/identity';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { deployables } from './deployables.ts';
import {
  rotateIdentityKeys,
  rotatePostgresRoles,
  rotateRabbitmqPasswords,
  rotateRedisPasswords,
} from './rotations.ts';
import { runSecrets } from './run-secrets.ts';
import { createSecrets, fillIn, oldPasswordName, ownSecretNames } from './secrets.ts';
import { readCompose } from './testing/compose.ts';
import { fromRoot, readText } from './testing/files.ts';

const readValue = (text: string, name: string) =>
  new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1] ?? '';
const keysIn = (text: string, process: string) =>
  parseIdentityKeys(readValue(text, ownSettingName(process, 'IDENTITY_KEYS')));

describe('secrets', () => {
  it('are made for everything that docker compose demands', async () => {
    const compose = JSON.stringify(await readCompose());
    const demanded = [...compose.matchAll(/\$\{([A-Z_]+):\?/g)].map(([, name = '']) => name);
    expect(Object.keys(createSecrets()).sort()).toEqual([...new Set(demanded)].sort());
  });

  it('fill in .env.example whole, differ each time, and leave what stands there', async () => {
    const example = await readText(fromRoot('.env.example'));
    const { text, filled } = fillIn(example, createSecrets());
    expect(filled).toEqual(Object.keys(createSecrets()));
    expect(text.split('\n').filter((line) => /^[A-Z_]+=$/.test(line))).toEqual([]);
    expect(text.split('\n')).toHaveLength(example.split('\n').length + ownSecretNames.length);
    expect(fillIn(text, createSecrets())).toEqual({ text, filled: [] });
    expect(fillIn(example, createSecrets()).text).not.toBe(text);
    const { text: upgraded } = fillIn('A=1\nBACKLOT_AUTH_MASTER_KEY=mine', createSecrets());
    expect(upgraded).toContain('A=1\nBACKLOT_AUTH_MASTER_KEY=mine\nBACKLOT_GATEWAY_IDENTITY_KEYS=');
  });

  it('give each process the identity keys of its own calls and no others', async () => {
    const { text } = fillIn('', createSecrets());
    const known = new Map<string, Set<string>>();
    for (const { name, asks } of deployables) {
      const keys = keysIn(text, name);
      checkIdentityKeys(keys, name, asks as never);
      for (const { sender, receiver, secret } of keys) {
        const bytes = secret.export().toString('hex');
        known.set(bytes, (known.get(bytes) ?? new Set()).add(`${sender}-${receiver}`));
      }
    }
    for (const pairs of known.values()) expect(pairs.size).toBe(1);
  });

  it('gain keys of services that ask each other since an update, at both ends alike', () => {
    const whole = fillIn('', createSecrets()).text;
    for (const before of [whole, rotateIdentityKeys(whole, 'add')]) {
      const older = before.replaceAll(/,?storage-projects:[^,\n]*/g, '');
      const asked = keysIn(older, 'storage').filter(({ sender }) => sender === 'storage');
      expect(asked.some(({ receiver }) => receiver === 'projects')).toBe(false);
      const { text, filled } = fillIn(older, createSecrets());
      expect(filled).toEqual(
        ['STORAGE', 'PROJECTS'].map((name) => `BACKLOT_${name}_IDENTITY_KEYS`),
      );
      const added = (process: string) =>
        keysIn(text, process)
          .filter(({ sender, receiver }) => `${sender}-${receiver}` === 'storage-projects')
          .map(({ secret }) => secret.export().toString('hex'));
      expect(added('storage').length).toBe(before === whole ? 1 : 2);
      expect(added('projects')).toEqual(added('storage'));
      expect(keysIn(text, 'auth')).toEqual(keysIn(before, 'auth'));
      expect(rotateIdentityKeys(text, before === whole ? 'add' : 'swap')).not.toBe(text);
    }
  });

  it('of identity are exchanged so that any two neighbouring steps understand each other', () => {
    const steps = [fillIn('A=1\n', createSecrets()).text];
    for (const step of ['add', 'swap', 'drop'] as const)
      steps.push(rotateIdentityKeys(steps.at(-1) ?? '', step));
    const signs = (step: number) =>
      keysIn(steps[step] ?? '', 'gateway')
        .find(({ receiver }) => receiver === 'auth')
        ?.secret.export()
        .toString();
    const accepts = (step: number) =>
      keysIn(steps[step] ?? '', 'auth')
        .filter(({ sender }) => sender === 'gateway')
        .map(({ secret }) => secret.export().toString());
    for (let step = 0; step < 3; step++) {
      expect(accepts(step + 1)).toContain(signs(step));
      expect(accepts(step)).toContain(signs(step + 1));
    }
    expect(accepts(3)).not.toContain(signs(0));
    expect(accepts(3)).toHaveLength(1);
    expect(() => rotateIdentityKeys(steps[1] ?? '', 'add')).toThrow('two keys');
    expect(() => rotateIdentityKeys(steps[0] ?? '', 'swap')).toThrow('one key');
    expect(() => rotateIdentityKeys(steps[0] ?? '', 'drop')).toThrow('one key');
  });

  it('of Redis are exchanged with both taken in between, so that processes may follow one by one', () => {
    const before = fillIn('A=1\n', createSecrets()).text;
    const both = rotateRedisPasswords(before, 'add');
    const after = rotateRedisPasswords(both, 'drop');
    for (const name of ['GATEWAY_REDIS_PASSWORD', 'PROJECTS_REDIS_PASSWORD']) {
      expect(readValue(both, name)).toMatch(/^[0-9a-f]{48}$/);
      expect(readValue(both, name)).not.toBe(readValue(before, name));
      expect(readValue(both, oldPasswordName(name))).toBe(readValue(before, name));
      expect(readValue(after, name)).toBe(readValue(both, name));
    }
    expect(after).not.toContain('_OLD_');
    expect(after.split('\n')).toHaveLength(before.split('\n').length);
    expect(() => rotateRedisPasswords(both, 'add')).toThrow('two passwords');
    expect(() => rotateRedisPasswords(after, 'drop')).toThrow('one password');
  });

  it('of PostgreSQL are those of another role each time, so that the one before is taken until it is retired', async () => {
    const first = fillIn('A=1\n', createSecrets()).text;
    const second = rotatePostgresRoles(first);
    const third = rotatePostgresRoles(second);
    const compose = JSON.stringify(await readCompose());
    for (const name of ownSecretNames.filter((each) => each.endsWith('_POSTGRES_PASSWORD'))) {
      const role = name.replace('_PASSWORD', '_ROLE');
      const own = `backlot_${name.split('_')[0]?.toLowerCase()}`;
      expect(compose).toContain(`postgres://\${${role}:-${own}}:\${${name}:?`);
      expect([first, second, third].map((text) => readValue(text, role))).toEqual([
        '',
        `${own}_2`,
        own,
      ]);
      expect(new Set([first, second, third].map((text) => readValue(text, name))).size).toBe(3);
    }
    expect(third.split('\n')).toHaveLength(second.split('\n').length);
  });

  it('of RabbitMQ are exchanged for every process, and nothing else is', () => {
    const before = fillIn('A=1\n', createSecrets()).text.split('\n');
    const after = rotateRabbitmqPasswords(before.join('\n')).split('\n');
    const changed = before.filter((line, index) => line !== after[index]);
    const names = ownSecretNames.filter((name) => name.endsWith('_RABBITMQ_PASSWORD'));
    expect(changed.map((line) => line.split('=')[0])).toEqual(names);
    expect(after).toHaveLength(before.length);
    expect(() => rotateRabbitmqPasswords('A=1')).toThrow('GATEWAY_RABBITMQ_PASSWORD has no value.');
  });
});

describe('pnpm secrets', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'backlot-secrets-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('writes a .env that only its owner reads, and exchanges keys in it', async () => {
    const file = join(folder, '.env');
    const printed: string[] = [];
    const run = (...args: string[]) => runSecrets(args, file, (line) => printed.push(line));
    expect(await run('rotate-identity', 'add')).toBe(1);
    expect(await run()).toBe(0);
    const before = await readFile(file, 'utf8');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await run('rotate-identity', 'add')).toBe(0);
    const after = await readFile(file, 'utf8');
    expect(keysIn(after, 'gateway')).toHaveLength(2 * keysIn(before, 'gateway').length);
    expect(await run('rotate-identity', 'turn')).toBe(1);
    expect(await run('toString', 'call')).toBe(1);
    expect(await run()).toBe(0);
    expect(await readFile(file, 'utf8')).toBe(after);
    // The names of secrets, never one of them.
    for (const value of Object.keys(createSecrets()).map((name) => readValue(after, name)))
      expect(printed.join()).not.toContain(value);
  });
});
