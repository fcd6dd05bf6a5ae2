import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { keepTexts } from '../../parts/lists/filters.ts';
import { projectRoute } from '../../shell/routes.ts';

/** All routes of this area: names them for the router. */
export const mailRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'mail',
    validateSearch: keepTexts('status', 'email'),
    component: lazyRouteComponent(() => import('./mail-screen.tsx'), 'MailScreen'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'mail/templates',
    component: lazyRouteComponent(() => import('./templates-screen.tsx'), 'TemplatesScreen'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'mail/new-template',
    component: lazyRouteComponent(() => import('./template-screen.tsx'), 'NewTemplateScreen'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'mail/templates/$name',
    component: lazyRouteComponent(() => import('./template-screen.tsx'), 'TemplateScreen'),
  }),
] as const;
