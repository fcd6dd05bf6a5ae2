import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../shell/routes.ts';
import type { CallFilter } from './live-calls.ts';

export interface CallsSearch extends CallFilter {
  /** The request id of the call that is looked at. */
  open?: string;
  /** Calls of the control plane too: those of the console, of keys and agents. */
  control?: true;
}

const word = (value: unknown, form: RegExp) =>
  form.test(String(value ?? '')) ? String(value) : undefined;

const toSearch = (search: Record<string, unknown>): CallsSearch => {
  const status = word(search.status, /^(failed|[1-5]xx|[1-5]\d\d)$/);
  const method = word(search.method, /^(GET|HEAD|POST|PUT|PATCH|DELETE)$/);
  const path = word(search.path, /^.{1,200}$/u);
  const open = word(search.open, /^[\w.-]{1,100}$/);
  return {
    ...(status && { status }),
    ...(method && { method }),
    ...(path && { path }),
    ...(open && { open }),
    ...(search.control === true && { control: true }),
  };
};

/** All routes of this area: names them for the router. */
export const callsRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'calls',
    validateSearch: toSearch,
    component: lazyRouteComponent(() => import('./calls-screen.tsx'), 'CallsScreen'),
  }),
] as const;
