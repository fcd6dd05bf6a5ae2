import type { RouteDefinition } from '../define-route.ts';
import * as ai from './ai.ts';
import * as auth from './auth.ts';
import * as credits from './credits.ts';
import * as email from './email.ts';
import * as payments from './payments.ts';
import * as projects from './projects.ts';
import * as records from './records.ts';
import * as storage from './storage.ts';

const isRoute = (value: unknown): value is RouteDefinition =>
  typeof value === 'object' && value !== null && 'operationId' in value;

/** Every endpoint of the platform. A new path group is one import and one entry here. */
export const routes: readonly RouteDefinition[] = [
  auth,
  projects,
  credits,
  records,
  ai,
  storage,
  email,
  payments,
].flatMap((group) => Object.values(group).filter(isRoute));
