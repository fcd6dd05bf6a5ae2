import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { keepTexts } from '../../parts/lists/filters.ts';
import { projectRoute } from '../../shell/routes.ts';

/** All routes of this area: names them for the router. */
export const paymentsRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'payments',
    validateSearch: keepTexts('status', 'user'),
    component: lazyRouteComponent(() => import('./payments-screen.tsx'), 'PaymentsScreen'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'payments/products',
    component: lazyRouteComponent(() => import('./products-screen.tsx'), 'ProductsScreen'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'payments/orders',
    component: lazyRouteComponent(() => import('./paid-records-screen.tsx'), 'PaidRecordsScreen'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'payments/keys',
    component: lazyRouteComponent(() => import('./stripe-screen.tsx'), 'StripeScreen'),
  }),
] as const;
