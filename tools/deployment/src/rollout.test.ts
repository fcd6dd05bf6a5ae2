import { serviceNames } from '@backlot/contract';
import { describe, expect, it } from '@jest/globals';
import { rollOut } from './rollout.ts';

const environment = { USERS: 'user operator on >p', DEFINITIONS: '{}' };
const rendered = JSON.stringify({
  services: { redis: { environment }, rabbitmq: { environment } },
});

/** An engine with one container of each; `commands` is what it was told. */
const createEngine = (failsAt?: string, hash = 'new') => {
  const containers = new Map(serviceNames.map((name) => [name as string, [`${name}-1`]]));
  const commands: string[] = [];
  const mostAtOnce: Record<string, number> = {};
  const docker = async (args: readonly string[]) => {
    const command = args.join(' ');
    commands.push(command);
    if (failsAt !== undefined && command.includes(failsAt)) throw new Error(failsAt);
    const name = args.at(-1) ?? '';
    if (args[1] === 'config') return args[2] === '--hash' ? `${name} new` : rendered;
    if (args[0] === 'inspect') return `${hash}\n`;
    if (args.includes('printenv')) return environment.USERS;
    if (args[1] === 'ps') return `${containers.get(name)?.join('\n')}\n`;
    const scale = /--scale (\w+)=(\d+)/.exec(command);
    if (scale) {
      containers.get(name)?.push(`${name}-2`);
      mostAtOnce[name] = Number(scale[2]);
    }
    if (args[0] === 'rm')
      for (const ids of containers.values())
        if (ids.includes(name)) ids.splice(ids.indexOf(name), 1);
    return '';
  };
  return { docker, commands, containers, mostAtOnce };
};

describe('a rollout', () => {
  it('has two processes of a service before the old one stops, and leaves the new one', async () => {
    const { docker, containers, mostAtOnce } = createEngine();
    await rollOut(docker, () => {});
    expect(Object.fromEntries(containers)).toEqual(
      Object.fromEntries(serviceNames.map((name) => [name, [`${name}-2`]])),
    );
    expect(mostAtOnce).toEqual(Object.fromEntries(serviceNames.map((name) => [name, 2])));
  });

  it('migrates before the first service, and exchanges one gateway after the other at the end', async () => {
    const { docker, commands } = createEngine();
    await rollOut(docker, () => {});
    const migration = commands.findIndex((command) => command.endsWith('migrate'));
    expect(migration).toBeLessThan(commands.findIndex((command) => command.includes('--scale')));
    const exchanged = commands.filter((command) => command.includes('--force-recreate'));
    expect(commands.indexOf(exchanged[0] ?? '')).toBeGreaterThan(
      commands.findLastIndex((command) => command.includes('--scale')),
    );
    expect(exchanged).toEqual(
      ['gateway', 'gateway-2'].map(
        (name) => `compose up --detach --wait --no-deps --force-recreate ${name}`,
      ),
    );
  });

  it('makes no server anew, and says which ones have other settings', async () => {
    const { docker, commands } = createEngine(undefined, 'old');
    const printed: string[] = [];
    await rollOut(docker, (line) => printed.push(line));
    const first = commands.find((command) => command.endsWith('postgres redis rabbitmq'));
    expect(first).toContain('--no-recreate');
    expect(printed.at(-1)).toContain('up --detach --wait --no-deps postgres redis rabbitmq');
    const same = createEngine();
    await rollOut(same.docker, (line) => printed.push(line));
    expect(printed.at(-1)).toBe('gateway-2');
  });

  it('sets the users of the servers before the first service', async () => {
    const { docker, commands } = createEngine();
    await rollOut(docker, () => {});
    const users = commands.findIndex((command) => command.includes('import_definitions'));
    expect(users).toBeLessThan(commands.findIndex((command) => command.includes('--scale')));
  });

  it('stops no process of a service whose new one does not become healthy', async () => {
    const { docker, commands, containers } = createEngine('--scale storage=2');
    await expect(rollOut(docker, () => {})).rejects.toThrow('--scale storage=2');
    expect(containers.get('storage')).toEqual(['storage-1']);
    expect(commands.at(-1)).toContain('--scale storage=2');
  });
});
