import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../shell/routes.ts';

/** All routes of this area: names them for the router. */
export const exposureRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'exposure',
    component: lazyRouteComponent(() => import('./exposure-screen.tsx'), 'ExposureScreen'),
  }),
] as const;
