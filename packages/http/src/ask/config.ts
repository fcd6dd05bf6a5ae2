import type { ConfigDirectory, ConfigOutcome, ProjectConfig } from '@backlot/contract';
import { createAsk, type HttpDirectoryOptions, jsonOrNull } from './ask.ts';

/** All collections of a project, or thousands of products, are set in one transaction. */
const configTimeoutMs = 20_000;

/** A service asked over HTTP for what it keeps of a project's config. */
export const createHttpConfigDirectory = (options: HttpDirectoryOptions): ConfigDirectory => {
  const ask = createAsk(options, 'POST', configTimeoutMs);
  const post = async <T>(path: string, body: unknown): Promise<T> => {
    const answer = await jsonOrNull<T>(await ask(path, body));
    if (!answer) throw new Error(`${options.origin} keeps no config.`);
    return answer;
  };
  return {
    readConfig: (projectNumber) => post<ProjectConfig>('/internal/config/read', { projectNumber }),
    applyConfig: (asking) => post<ConfigOutcome>('/internal/config/apply', asking),
  };
};
