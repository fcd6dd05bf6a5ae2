import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../shell/routes.ts';

/** All routes of this area: names them for the router. */
export const groupsRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'groups',
    component: lazyRouteComponent(() => import('./groups-screen.tsx'), 'GroupsScreen'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'groups/$groupId',
    component: lazyRouteComponent(() => import('./group-screen.tsx'), 'GroupScreen'),
  }),
] as const;
