import { collectionTools, describeProject } from './collection-tools.ts';
import { recordTools } from './record-tools.ts';
import type { Tool } from './tool.ts';

/** From reading to what changes most. */
export const tools: readonly Tool[] = [describeProject, ...recordTools, ...collectionTools];
