import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '../../shell/routes.ts';

/** All routes of this area: names them for the router. */
export const aiRoutes = [
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'ai',
    component: lazyRouteComponent(() => import('./ai-screen.tsx'), 'AiScreen'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'ai/prompts',
    component: lazyRouteComponent(() => import('./prompts-screen.tsx'), 'PromptsScreen'),
  }),
  createRoute({
    getParentRoute: () => projectRoute,
    path: 'ai/budgets',
    component: lazyRouteComponent(() => import('./budgets-screen.tsx'), 'BudgetsScreen'),
  }),
] as const;
