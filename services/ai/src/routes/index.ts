import type { MountedRoute } from '@backlot/http';
import type { Generations } from '../generations/generations.ts';
import type { ProjectKeys } from '../project-keys.ts';
import type { Prompts } from '../prompts.ts';
import { generateText } from './generate-text.ts';
import { deleteOpenaiSecret, getOpenaiSecret, setOpenaiSecret } from './openai-secret.ts';
import { deletePrompt, listPrompts, setPrompt } from './prompts.ts';

export interface Features {
  generations: Generations;
  prompts: Prompts;
  projectKeys: ProjectKeys;
}

export const createRoutes = ({ generations, prompts, projectKeys }: Features): MountedRoute[] => [
  generateText(generations),
  setPrompt(prompts),
  listPrompts(prompts),
  deletePrompt(prompts),
  setOpenaiSecret(projectKeys),
  getOpenaiSecret(projectKeys),
  deleteOpenaiSecret(projectKeys),
];
