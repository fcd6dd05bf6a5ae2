import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../shell/routes.ts';

export const invitationRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'invitation',
    component: lazyRouteComponent(() => import('./invitation-screen.tsx'), 'InvitationScreen'),
  }),
] as const;
