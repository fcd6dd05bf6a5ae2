import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../shell/routes.ts';
import { toUsersSearch } from './search.ts';

/** All routes of this area: names them for the router. */
export const usersRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'users',
    validateSearch: toUsersSearch,
    component: lazyRouteComponent(() => import('./users-screen.tsx'), 'UsersScreen'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'users/$userId',
    component: lazyRouteComponent(() => import('./user/user-screen.tsx'), 'UserScreen'),
  }),
] as const;
