import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../../shell/routes.ts';

export const accountRoutes = [
  createRoute({
    getParentRoute: () => signedInRoute,
    path: 'account',
    component: lazyRouteComponent(() => import('./account-screen.tsx'), 'AccountScreen'),
  }),
] as const;
