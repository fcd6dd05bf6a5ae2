import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../shell/routes.ts';

/** All routes of this area: names them for the router. */
export const rulesRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'rules',
    component: lazyRouteComponent(() => import('./rules-screen.tsx'), 'RulesScreen'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'rules/$collection',
    component: lazyRouteComponent(
      () => import('./collection/collection-rules-screen.tsx'),
      'CollectionRulesScreen',
    ),
  }),
] as const;
