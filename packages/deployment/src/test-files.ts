import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../..', import.meta.url));
export const fromRoot = (...path: string[]): string => join(root, ...path);
export const readText = (path: string): Promise<string> => readFile(path, 'utf8');

/** Keys of a schema of the environment. */
const settingsIn = async (file: string): Promise<string[]> => {
  const text = await readText(fromRoot(file));
  return [...text.matchAll(/\b([A-Z][A-Z0-9]*_[A-Z0-9_]+|PORT|HOST):/g)].map(
    ([, name = '']) => name,
  );
};

/** The settings that the process of a folder reads, those that packages/process reads for it included. */
export const settingsRead = async (folder: string): Promise<string[]> => {
  const main = await readText(fromRoot(folder, 'src/main.ts'));
  const files = [
    ...['src/config.ts', 'src/main.ts'].map((file) => `${folder}/${file}`),
    ...(main.includes("'@backlot/process'") ? ['packages/process/src/settings.ts'] : []),
    ...(main.includes('runService(') ? ['packages/process/src/run-service.ts'] : []),
  ];
  return [...new Set((await Promise.all(files.map(settingsIn))).flat())];
};

/** The settings that .env.example explains, set or commented out. */
export const settingsExplained = async (): Promise<string[]> => {
  const text = await readText(fromRoot('.env.example'));
  return [...text.matchAll(/^(?:# )?([A-Z][A-Z0-9_]+)=/gm)].map(([, name = '']) => name);
};
