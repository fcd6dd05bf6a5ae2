import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../shell/routes.ts';
import { toSearch } from './search.ts';

/** All routes of this area: names them for the router. */
export const usageRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'usage',
    validateSearch: toSearch,
    component: lazyRouteComponent(() => import('./usage-screen.tsx'), 'UsageScreen'),
  }),
] as const;
