import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const dist = join(root, 'console/dist');
/** What the console is made of. */
const sources = ['console', 'packages/design', 'packages/client/src', 'packages/contract/src'];
const notSources = /(^|\/)(node_modules|dist)(\/|$)/;
const keptBuilds = 2;

/** Of a build as the image has it: there the sources can not be built, and do not change. */
const imageBuild = join(dist, 'built');
/** Left out of the image. */
const builder = join(root, 'console/node_modules/vite');

const listFiles = async (folder: string): Promise<string[]> => {
  const entries = await readdir(join(root, folder), { withFileTypes: true });
  const paths = entries.map((entry) => ({ entry, path: `${folder}/${entry.name}` }));
  const found = paths
    .filter(({ path }) => !notSources.test(path))
    .map(({ entry, path }) => (entry.isDirectory() ? listFiles(path) : [path]));
  return (await Promise.all(found)).flat();
};

/** Differs when a source differs. */
const describeSources = async (): Promise<string> => {
  const files = (await Promise.all(sources.map(listFiles))).flat().sort();
  const facts = files.map(async (file) => {
    const { size, mtimeMs } = await stat(join(root, file));
    return `${file} ${size} ${mtimeMs}`;
  });
  const hash = createHash('sha256').update((await Promise.all(facts)).join('\n'));
  return hash.digest('hex').slice(0, 16);
};

const removeOld = async (current: string) => {
  const builds = (await readdir(dist)).filter((name) => /^[0-9a-f]{16}$/.test(name));
  const aged = builds.map(async (name) => ({ name, at: (await stat(join(dist, name))).mtimeMs }));
  const newest = (await Promise.all(aged)).sort((a, b) => b.at - a.at).map(({ name }) => name);
  for (const name of newest.slice(keptBuilds))
    if (name !== current) await rm(join(dist, name), { recursive: true, force: true });
};

/** Two processes may build the same at once: what is there first stays. */
const build = async (name: string): Promise<string> => {
  const folder = join(dist, name);
  if (existsSync(folder)) return folder;
  await mkdir(dist, { recursive: true });
  const made = join(dist, `new-${randomUUID()}`);
  try {
    await run(process.execPath, [join(root, 'console/build/main.ts'), made]);
    await rename(made, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(made, { recursive: true, force: true });
  }
  await removeOld(name);
  return folder;
};

let building: Promise<string> | undefined;

/**
 * The folder of the console as its sources are now. Where they can be built, which is in development, a
 * change is built when somebody opens the page; else it is what the image brings, or undefined.
 */
export const findConsole = async (): Promise<string | undefined> => {
  if (!existsSync(builder)) return existsSync(imageBuild) ? imageBuild : undefined;
  building ??= describeSources()
    .then(build)
    .finally(() => {
      building = undefined;
    });
  return building;
};
