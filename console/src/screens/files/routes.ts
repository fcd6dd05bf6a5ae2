import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../shell/routes.ts';
import { toFilesSearch } from './search.ts';

/** All routes of this area: names them for the router. */
export const filesRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'files',
    validateSearch: toFilesSearch,
    component: lazyRouteComponent(() => import('./files-screen.tsx'), 'FilesScreen'),
  }),
] as const;
