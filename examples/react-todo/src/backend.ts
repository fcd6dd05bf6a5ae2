import { createClient, type Stored } from '@backlot/client';
import type { Project, Todos } from './project.ts';

export type Todo = Stored<Todos>;

export const client = createClient<Project>(
  import.meta.env.VITE_BACKLOT_URL ?? `${location.origin}/api/runtime/demo`,
);
