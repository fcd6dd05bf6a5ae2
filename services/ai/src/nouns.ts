import type { Generations } from './generations.ts';
import type { ProjectKeys } from './project-keys.ts';
import type { Prompts } from './prompts.ts';

/** What the routes call. */
export interface Nouns {
  generations: Generations;
  prompts: Prompts;
  projectKeys: ProjectKeys;
}
