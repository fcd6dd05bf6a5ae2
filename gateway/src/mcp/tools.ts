import { callTools } from './call-tools.ts';
import { collectionTools, describeProject } from './collection-tools.ts';
import { configTools } from './config-tools.ts';
import { historyTools } from './history-tools.ts';
import { recordTools } from './record-tools.ts';
import type { Tool } from './tool.ts';

/** From reading to what changes most. */
export const tools: readonly Tool[] = [
  describeProject,
  ...callTools,
  ...recordTools,
  ...collectionTools,
  ...historyTools,
  ...configTools,
];
