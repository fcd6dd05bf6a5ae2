import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../..', import.meta.url));
export const fromRoot = (...path: string[]): string => join(root, ...path);
export const readText = (path: string): Promise<string> => readFile(path, 'utf8');

/** The settings that a config.ts reads: the keys of its schema of the environment. */
export const settingsRead = async (folder: string): Promise<string[]> => {
  const text = await readText(fromRoot(folder, 'src/config.ts'));
  return [...text.matchAll(/^\s+([A-Z][A-Z0-9_]+):/gm)].map(([, name = '']) => name);
};

/** The settings that .env.example explains, set or commented out. */
export const settingsExplained = async (): Promise<string[]> => {
  const text = await readText(fromRoot('.env.example'));
  return [...text.matchAll(/^(?:# )?([A-Z][A-Z0-9_]+)=/gm)].map(([, name = '']) => name);
};
