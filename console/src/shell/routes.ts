import { createRootRoute, createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { ProjectLayout } from './project-layout.tsx';
import { NotFound, Root, RouteProblem } from './root.tsx';
import type { SignInSearch } from './sign-in-search.ts';
import { SignedIn } from './signed-in.tsx';

/** What a screen stands in; screens name one of these as their parent. */
export const rootRoute = createRootRoute({
  component: Root,
  notFoundComponent: NotFound,
  errorComponent: RouteProblem,
});

/** Everything for which one has to be signed in. */
export const signedInRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'signed-in',
  component: SignedIn,
});

/** A project with its navigation: parent of each area's routes. Params: `projectId`. */
export const projectRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: 'projects/$projectId',
  component: ProjectLayout,
});

/** What the operator of the installation sees, with a token of their own. */
export const operatorRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: 'operator',
  component: lazyRouteComponent(() => import('./operator-layout.tsx'), 'OperatorLayout'),
});

const toSearch = ({ to, link }: Record<string, unknown>): SignInSearch => ({
  ...(typeof to === 'string' && /^\/(?![/\\])/.test(to) && { to }),
  ...((link === 'over' || link === 'password') && { link }),
});

const signInScreen = (name: 'SignInScreen' | 'SignUpScreen' | 'ForgotScreen') =>
  lazyRouteComponent(() => import('./sign-in-screens.tsx'), name);

export const signInRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'sign-in',
    validateSearch: toSearch,
    component: signInScreen('SignInScreen'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'sign-up',
    validateSearch: toSearch,
    component: signInScreen('SignUpScreen'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'forgot',
    component: signInScreen('ForgotScreen'),
  }),
] as const;
