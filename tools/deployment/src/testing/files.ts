import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runnableServices } from '@backlot/all-in-one';
import { gatewaySettings } from '@backlot/gateway';
import { settingNames } from '@backlot/service';

export const root = fileURLToPath(new URL('../../../..', import.meta.url));
export const fromRoot = (...path: string[]): string => join(root, ...path);
export const readText = (path: string): Promise<string> => readFile(path, 'utf8');

/** The settings that the process of this name reads. */
export const settingsRead = (name: string): string[] => {
  const service = runnableServices.find((runnable) => runnable.name === name);
  return service ? settingNames(service) : [...gatewaySettings];
};

/** The settings that .env.example explains, set or commented out. */
export const settingsExplained = async (): Promise<string[]> => {
  const text = await readText(fromRoot('.env.example'));
  return [...text.matchAll(/^(?:# )?([A-Z][A-Z0-9_]+)=/gm)].map(([, name = '']) => name);
};
