import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { operatorRoute } from '../../shell/routes.ts';
import { toLoadSearch } from './load/load-search.ts';

export interface FoundBy {
  /** How it begins. */
  q?: string;
}

const toSearch = ({ q }: Record<string, unknown>): FoundBy =>
  q === undefined || q === '' ? {} : { q: String(q).slice(0, 100) };

/** All routes of the operator: names them for the router. */
export const operatorRoutes = [
  createRoute({
    getParentRoute: () => operatorRoute,
    path: '/',
    component: lazyRouteComponent(() => import('./overview-screen.tsx'), 'OverviewScreen'),
  }),
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'load',
    validateSearch: toLoadSearch,
    component: lazyRouteComponent(() => import('./load/load-screen.tsx'), 'LoadScreen'),
  }),
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'findings',
    component: lazyRouteComponent(() => import('./findings/findings-screen.tsx'), 'FindingsScreen'),
  }),
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'owners',
    validateSearch: toSearch,
    component: lazyRouteComponent(() => import('./owners-screen.tsx'), 'OwnersScreen'),
  }),
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'audit',
    component: lazyRouteComponent(() => import('./audit-screen.tsx'), 'AuditScreen'),
  }),
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'tokens',
    component: lazyRouteComponent(() => import('./tokens/tokens-screen.tsx'), 'TokensScreen'),
  }),
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'events',
    component: lazyRouteComponent(() => import('./parked/parked-screen.tsx'), 'ParkedScreen'),
  }),
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'backups',
    component: lazyRouteComponent(() => import('./backups/backups-screen.tsx'), 'BackupsScreen'),
  }),
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'keys',
    component: lazyRouteComponent(
      () => import('./keys/master-keys-screen.tsx'),
      'MasterKeysScreen',
    ),
  }),
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'owners/$ownerId',
    component: lazyRouteComponent(() => import('./owner/owner-screen.tsx'), 'OwnerScreen'),
  }),
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'projects',
    validateSearch: toSearch,
    component: lazyRouteComponent(() => import('./all-projects-screen.tsx'), 'AllProjectsScreen'),
  }),
  createRoute({
    getParentRoute: () => operatorRoute,
    path: 'projects/$projectId',
    component: lazyRouteComponent(() => import('./project/project-screen.tsx'), 'ProjectScreen'),
  }),
] as const;
