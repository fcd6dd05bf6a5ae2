import { createRoute, createRouter, redirect } from '@tanstack/react-router';
import { accountRoutes } from './screens/account/routes.ts';
import { aiRoutes } from './screens/ai/routes.ts';
import { auditRoutes } from './screens/audit/routes.ts';
import { callsRoutes } from './screens/calls/routes.ts';
import { dataRoutes } from './screens/data/routes.ts';
import { exposureRoutes } from './screens/exposure/routes.ts';
import { filesRoutes } from './screens/files/routes.ts';
import { groupsRoutes } from './screens/groups/routes.ts';
import { invitationRoutes } from './screens/invitation/routes.ts';
import { mailRoutes } from './screens/mail/routes.ts';
import { operatorRoutes } from './screens/operator/routes.ts';
import { paymentsRoutes } from './screens/payments/routes.ts';
import { projectsRoutes } from './screens/projects/routes.ts';
import { rulesRoutes } from './screens/rules/routes.ts';
import { settingsRoutes } from './screens/settings/routes.ts';
import { usageRoutes } from './screens/usage/routes.ts';
import { usersRoutes } from './screens/users/routes.ts';
import { webhooksRoutes } from './screens/webhooks/routes.ts';
import {
  operatorRoute,
  projectRoute,
  rootRoute,
  signedInRoute,
  signInRoutes,
} from './shell/routes.ts';

const firstScreen = createRoute({
  getParentRoute: () => projectRoute,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/projects/$projectId/data', params });
  },
});

const routeTree = rootRoute.addChildren([
  ...signInRoutes,
  ...invitationRoutes,
  operatorRoute.addChildren([...operatorRoutes]),
  signedInRoute.addChildren([
    ...projectsRoutes,
    ...accountRoutes,
    ...auditRoutes,
    projectRoute.addChildren([
      firstScreen,
      ...dataRoutes,
      ...rulesRoutes,
      ...usersRoutes,
      ...groupsRoutes,
      ...filesRoutes,
      ...mailRoutes,
      ...paymentsRoutes,
      ...aiRoutes,
      ...webhooksRoutes,
      ...callsRoutes,
      ...usageRoutes,
      ...exposureRoutes,
      ...settingsRoutes,
    ]),
  ]),
]);

export const router = createRouter({
  routeTree,
  basepath: '/console',
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
