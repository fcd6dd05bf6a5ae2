import { access, readdir } from 'node:fs/promises';
import { migrateSettings, platformSettings } from '@backlot/all-in-one';
import { originSettingName, ownSettingName, serviceNames } from '@backlot/contract';
import { knownSettings } from '@backlot/service';
import { describe, expect, it } from '@jest/globals';
import { addressKeys, deployables } from './deployables.ts';
import { generatedFiles } from './generate.ts';
import { ownSecretNames } from './secrets.ts';
import { readCompose } from './testing/compose.ts';
import { fromRoot, readText, settingsExplained, settingsRead } from './testing/files.ts';

const exists = (path: string) =>
  access(fromRoot(path)).then(
    () => true,
    () => false,
  );

/** What compose takes from .env, and the command and tests from their environment. */
const namesInSources = async (): Promise<string[]> => {
  const folders = [
    'packages/cli/src',
    'tools/journeys/src',
    'tools/ops/src',
    'tools/survival/src',
    'tools/testing/src',
  ];
  const listed = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(fromRoot(folder), { recursive: true }))
        .filter((name) => name.endsWith('.ts'))
        .map((name) => readText(fromRoot(folder, name))),
    ),
  );
  const sources = await Promise.all([readText(fromRoot('docker-compose.yml')), ...listed.flat()]);
  return sources.flatMap((text) =>
    [...text.matchAll(/(?:\$\{|process\.env\.)(BACKLOT_[A-Z0-9_]+)/g)].map(([, name = '']) => name),
  );
};

describe('what can be deployed', () => {
  it('is each folder of gateway/ and services/ that has an entry', async () => {
    const services = (await readdir(fromRoot('services'))).map((name) => `services/${name}`);
    const entries = ['gateway', ...services].map((folder) => `${folder}/src/main.ts`);
    const found = (
      await Promise.all(entries.map(async (entry) => ((await exists(entry)) ? [entry] : [])))
    ).flat();
    expect(deployables.map(({ entry }) => entry).sort()).toEqual(found.sort());
  });
});

describe('.env.example', () => {
  it('explains every setting that is read, and none that is not', async () => {
    const read = [
      ...deployables.flatMap(({ name }) => settingsRead(name)),
      ...deployables
        .flatMap(({ name, ownSecrets }) =>
          ownSecrets.map((setting) => ownSettingName(name, setting)),
        )
        .filter((setting) => !addressKeys.includes(setting)),
      ...platformSettings,
      ...migrateSettings,
    ];
    const compose = await readText(fromRoot('docker-compose.yml'));
    const ofCompose = [...compose.matchAll(/\$\{([A-Z_]+)/g)].map(([, name = '']) =>
      name.replace('_OLD_', '_').replace('_POSTGRES_ROLE', '_POSTGRES_PASSWORD'),
    );
    const explained = await settingsExplained();
    // One origin, and one address for the migration, stand for those of all services; what is random and of
    // one process, `pnpm secrets` adds.
    const [first = '', ...otherOrigins]: string[] = serviceNames.map(originSettingName);
    const [, ...otherAddresses] = serviceNames.map((name) => ownSettingName(name, 'DATABASE_URL'));
    const others = [...otherOrigins, ...otherAddresses, ...ownSecretNames];
    const toExplain = new Set([...read, ...ofCompose].filter((name) => !others.includes(name)));
    expect(toExplain).toContain(first);
    expect([...explained].sort()).toEqual([...toExplain].sort());
    expect(new Set(explained).size).toBe(explained.length);
  });

  it('holds no secret', async () => {
    const text = await readText(fromRoot('.env.example'));
    for (const line of text.split('\n').filter((row) => /^[A-Z]/.test(row)))
      expect(line).toMatch(/^[A-Z_]+=$/);
  });
});

describe('settings that no process refuses', () => {
  const ofProcesses = [
    ...deployables.flatMap(({ name }) => settingsRead(name)),
    ...platformSettings,
    ...migrateSettings,
    ...ownSecretNames,
    ...addressKeys,
  ].filter((name) => name.startsWith('BACKLOT_'));

  it('are all that some process, compose, the command or a test reads', async () => {
    const named = await namesInSources();
    const known = [...knownSettings];
    for (const name of ofProcesses) expect(known).toContain(name);
    for (const name of named) expect(known).toContain(name);
  });

  it('and no others', async () => {
    const own = ['gateway', ...serviceNames].map((name) => `BACKLOT_${name.toUpperCase()}_`);
    const read = new Set([...ofProcesses, ...(await namesInSources())]);
    for (const name of knownSettings)
      if (!own.some((prefix) => name.startsWith(prefix))) expect(read).toContain(name);
  });
});

describe.each(deployables)('$name', ({ name, ownSecrets }) => {
  it('gets in docker compose the settings that it reads, and no others', async () => {
    const { services } = await readCompose();
    const given = Object.keys(services[name]?.environment ?? {});
    const read = settingsRead(name);
    expect(given.sort()).toEqual(read.sort());
  });

  it('gets on Kubernetes nothing from the Secret that it does not read', async () => {
    const manifest = generatedFiles().get(`${name}.yaml`) ?? '';
    const keys = [...manifest.matchAll(/^ +key: (\S+)$/gm)].map(([, key = '']) => key);
    const own = ownSecrets.map((setting) => ownSettingName(name, setting));
    const shared = settingsRead(name).filter((setting) => !ownSecrets.includes(setting));
    expect([...shared, ...own]).toEqual(expect.arrayContaining(keys));
    expect(keys).toEqual(expect.arrayContaining(own));
  });

  it('gets in docker compose its own part of each secret that is not for all', async () => {
    const { services } = await readCompose();
    for (const setting of ownSecrets.filter((name) => name.startsWith('BACKLOT_')))
      expect(services[name]?.environment?.[setting]).toMatch(
        `\${${ownSettingName(name, setting)}:?`,
      );
  });
});
