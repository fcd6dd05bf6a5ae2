import { access, readdir } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { deployables } from './deployables.ts';
import { generatedFiles } from './generate.ts';
import { readCompose } from './test-compose.ts';
import { fromRoot, readText, settingsExplained, settingsRead } from './test-files.ts';

const exists = (path: string) =>
  access(fromRoot(path)).then(
    () => true,
    () => false,
  );
const folderOf = (entry: string) => entry.replace('/src/main.ts', '');

describe('what can be deployed', () => {
  it('is each folder of gateway/ and services/ that has an entry', async () => {
    const services = (await readdir(fromRoot('services'))).map((name) => `services/${name}`);
    const entries = ['gateway', ...services].map((folder) => `${folder}/src/main.ts`);
    const found = (
      await Promise.all(entries.map(async (each) => ((await exists(each)) ? [each] : [])))
    ).flat();
    expect(deployables.map(({ entry }) => entry).sort()).toEqual(found.sort());
  });
});

describe('.env.example', () => {
  it('explains every setting that is read, and none that is not', async () => {
    const folders = [...deployables.map(({ entry }) => folderOf(entry)), 'packages/all-in-one'];
    const read = (await Promise.all(folders.map(settingsRead))).flat();
    const compose = await readText(fromRoot('docker-compose.yml'));
    const ofCompose = [...compose.matchAll(/\$\{([A-Z_]+)/g)].map(([, name = '']) => name);
    const explained = await settingsExplained();
    expect([...explained].sort()).toEqual([...new Set([...read, ...ofCompose])].sort());
    expect(new Set(explained).size).toBe(explained.length);
  });

  it('holds no secret', async () => {
    const text = await readText(fromRoot('.env.example'));
    for (const line of text.split('\n').filter((each) => /^[A-Z]/.test(each)))
      expect(line).toMatch(/^[A-Z_]+=$/);
  });
});

describe.each(deployables)('$name', ({ name, entry }) => {
  it('gets in docker compose the settings that it reads, and no others', async () => {
    const { services } = await readCompose();
    const given = Object.keys(services[name]?.environment ?? {});
    const read = await settingsRead(folderOf(entry));
    expect(given.sort()).toEqual(read.sort());
  });

  it('gets on Kubernetes nothing from the Secret that it does not read', async () => {
    const manifest = generatedFiles().get(`${name}.yaml`) ?? '';
    const keys = [...manifest.matchAll(/^ +key: (\S+)$/gm)].map(([, key = '']) => key);
    expect(await settingsRead(folderOf(entry))).toEqual(expect.arrayContaining(keys));
  });
});
