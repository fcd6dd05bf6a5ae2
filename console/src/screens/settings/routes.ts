import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../shell/routes.ts';

export const settingsRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'settings',
    component: lazyRouteComponent(() => import('./settings-screen.tsx'), 'SettingsScreen'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'settings/members',
    component: lazyRouteComponent(() => import('./members/members-screen.tsx'), 'MembersScreen'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'settings/providers',
    component: lazyRouteComponent(
      () => import('./providers/providers-screen.tsx'),
      'ProvidersScreen',
    ),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'settings/keys',
    component: lazyRouteComponent(() => import('./keys-screen.tsx'), 'KeysScreen'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'settings/config',
    component: lazyRouteComponent(() => import('./config-screen.tsx'), 'ConfigScreen'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'settings/copies',
    component: lazyRouteComponent(() => import('./copies-screen.tsx'), 'CopiesScreen'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'settings/restore-points',
    component: lazyRouteComponent(
      () => import('./restore-points-screen.tsx'),
      'RestorePointsScreen',
    ),
  }),
] as const;
