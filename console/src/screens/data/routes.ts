import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../shell/routes.ts';
import { toCollectionSearch } from './collection/address.ts';

/** All routes of this area: names them for the router. */
export const dataRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'data',
    component: lazyRouteComponent(() => import('./data-screen.tsx'), 'DataScreen'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'data/$collection',
    validateSearch: toCollectionSearch,
    component: lazyRouteComponent(
      () => import('./collection/collection-screen.tsx'),
      'CollectionScreen',
    ),
  }),
] as const;
