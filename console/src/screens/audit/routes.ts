import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { signedInRoute } from '../../shell/routes.ts';

export const auditRoutes = [
  createRoute({
    getParentRoute: () => signedInRoute,
    path: 'audit',
    component: lazyRouteComponent(() => import('./own-audit-screen.tsx'), 'OwnAuditScreen'),
  }),
] as const;
