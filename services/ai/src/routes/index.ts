import type { MountedRoute } from '@backlot/http';
import type { Generations } from '../generations.ts';
import { generateText } from './generate-text.ts';

export const routesOf = (generations: Generations): MountedRoute[] => [generateText(generations)];
