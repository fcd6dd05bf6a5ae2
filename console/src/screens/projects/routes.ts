import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../../shell/routes.ts';

export const projectsRoutes = [
  createRoute({
    getParentRoute: () => signedInRoute,
    path: '/',
    component: lazyRouteComponent(() => import('./projects-screen.tsx'), 'ProjectsScreen'),
  }),
] as const;
