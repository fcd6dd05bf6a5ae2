import type { MountedRoute } from '@backlot/http';
import type { Nouns } from '../nouns.ts';
import { deleteOpenaiSecret } from './delete-openai-secret.ts';
import { deletePrompt } from './delete-prompt.ts';
import { generateText } from './generate-text.ts';
import { getOpenaiSecret } from './get-openai-secret.ts';
import { listPrompts } from './list-prompts.ts';
import { setOpenaiSecret } from './set-openai-secret.ts';
import { setPrompt } from './set-prompt.ts';

export const routesOf = (nouns: Nouns): MountedRoute[] => [
  generateText(nouns),
  setPrompt(nouns),
  listPrompts(nouns),
  deletePrompt(nouns),
  setOpenaiSecret(nouns),
  getOpenaiSecret(nouns),
  deleteOpenaiSecret(nouns),
];
