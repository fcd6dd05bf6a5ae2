import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { keepTexts } from '../../parts/lists/filters.ts';
import { projectRoute } from '../../shell/routes.ts';

/** All routes of this area: names them for the router. */
export const webhooksRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'webhooks',
    component: lazyRouteComponent(() => import('./webhooks-screen.tsx'), 'WebhooksScreen'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'webhooks/$name',
    validateSearch: keepTexts('status'),
    component: lazyRouteComponent(() => import('./webhook-screen.tsx'), 'WebhookScreen'),
  }),
] as const;
