import type { MountedRoute } from '@backlot/http';
import type { Deletion } from '../deletion.ts';
import type { Keys } from '../keys.ts';
import type { Credits } from '../ledger/credits.ts';
import type { UsageReports } from '../ledger/usage-report.ts';
import type { Limits } from '../limits.ts';
import type { Projects } from '../projects.ts';
import { createGrant } from './create-grant.ts';
import { createKey } from './create-key.ts';
import { createProject } from './create-project.ts';
import { deleteKey } from './delete-key.ts';
import { deleteProject } from './delete-project.ts';
import { getCredits } from './get-credits.ts';
import { getProject } from './get-project.ts';
import { getUsage } from './get-usage.ts';
import { listKeys } from './list-keys.ts';
import { listProjects } from './list-projects.ts';
import { restoreProject } from './restore-project.ts';
import { setLimits } from './set-limits.ts';
import { updateProject } from './update-project.ts';

export interface Nouns {
  projects: Projects;
  deletion: Deletion;
  limits: Limits;
  keys: Keys;
  credits: Credits;
  usage: UsageReports;
}

export const routesOf = ({
  projects,
  deletion,
  limits,
  keys,
  credits,
  usage,
}: Nouns): MountedRoute[] => [
  createProject(projects),
  listProjects(projects),
  getProject(projects),
  updateProject(projects),
  deleteProject(deletion),
  restoreProject(deletion),
  setLimits(limits),
  createKey(keys),
  listKeys(keys),
  deleteKey(keys),
  getCredits(credits),
  createGrant(credits),
  getUsage(usage),
];
