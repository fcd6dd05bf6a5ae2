import type { Method, RouteDefinition } from '@backlot/contract';
import { nearestName } from '@backlot/http';
import { findElsewhere } from './guessed-paths.ts';

type Plane = RouteDefinition['plane'];

/** What others take a POST for below a collection. */
const belowCollection: readonly (readonly [RegExp, string])[] = [
  [/^_?(batch|bulk|many)$/, 'Many at once: POST /db/<collection>/_batch.'],
  [/^_?(query|search|find|filter|list)$/, 'To list: GET /db/<collection>?where={"done":false}.'],
];

const membersAreInvited =
  'Who follows an invitation becomes a member: POST /groups/<groupId>/invites {"email": "…"}.';
const owners =
  'Owners are users of the project "platform": POST /api/runtime/platform/auth/signup.';

/** As people read it: `/db/<collection>/<id>`. */
const readable = (path: string) => path.replace(/:([A-Za-z]+)/g, '<$1>');
const base: Record<Plane, string> = { runtime: '', platform: '/api/platform' };
const order: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const maxPathLength = 200;

/** Names the path whose literal segments are the same or nearly; a parameter takes any segment. */
const nearestPath = (paths: readonly string[], path: string): string | undefined => {
  const segments = path.split('/');
  return paths.find((known) => {
    const parts = known.split('/');
    return (
      parts.length === segments.length &&
      parts.every((part, index) => {
        const segment = segments[index] ?? '';
        return part.startsWith(':') || part === segment || nearestName(segment, [part]) === part;
      })
    );
  });
};

export interface NearestRoute {
  /** For a path that no route has. */
  ofPath(plane: Plane, path: string): string;
  /** For a method that none of a path's routes has. */
  ofMethod(
    known: RouteDefinition,
    sent: { method: string; path: string },
    allowed: readonly string[],
  ): string;
}

/** What a developer may have meant, in a sentence; made for each wrong call, so it is bounded. */
export const createNearestRoute = (routes: readonly RouteDefinition[]): NearestRoute => {
  const listPaths = (plane: Plane) => [
    ...new Set(routes.filter((route) => route.plane === plane).map(({ path }) => path)),
  ];
  const paths = { runtime: listPaths('runtime'), platform: listPaths('platform') };
  const listMethods = (plane: Plane, path: string) =>
    routes
      .filter((route) => route.plane === plane && route.path === path)
      .map(({ method }) => method)
      .sort((a, b) => order.indexOf(a) - order.indexOf(b));
  const describe = (plane: Plane, path: string) =>
    `${listMethods(plane, path).join(', ')} ${base[plane]}${readable(path)}`;

  return {
    ofPath(plane, sent) {
      const path = sent.slice(0, maxPathLength).replace(/\/+$/, '');
      const known = findElsewhere(plane, path);
      if (known !== undefined) return known;
      const other = plane === 'runtime' ? 'platform' : 'runtime';
      const nearest = paths[other].includes(path) ? undefined : nearestPath(paths[plane], path);
      if (nearest !== undefined) return `Did you mean ${describe(plane, nearest)}?`;
      const there = nearestPath(paths[other], path);
      const records = plane === 'runtime' ? ' Records are at /db/<collection>.' : '';
      if (there === undefined) return `Every route is listed at /docs.${records}`;
      return other === 'platform'
        ? `With an owner's token: ${describe(other, there)}.`
        : `In a project: ${describe(other, there)}, after /api/runtime/<project>.${there.startsWith('/auth/') ? ` ${owners}` : ''}`;
    },
    ofMethod({ plane, path }, { method, path: sent }, allowed) {
      const name = sent.slice(sent.lastIndexOf('/') + 1, maxPathLength);
      const meant = belowCollection.find(([pattern]) => pattern.test(name));
      if (meant && path === '/db/:collection/:id' && method === 'POST') return meant[1];
      const takes = `It takes ${allowed.join(', ')}.`;
      if (method === 'POST' && path === '/groups/:groupId/members')
        return `${takes} ${membersAreInvited}`;
      const named = paths[plane].find(
        (other) =>
          other.replace(/\/:[A-Za-z]+$/, '') === path && listMethods(plane, other).includes('PUT'),
      );
      if (method === 'POST' && named !== undefined)
        return `${takes} To make one: PUT ${base[plane]}${readable(named)}.`;
      const below = paths[plane].find(
        (other) =>
          listMethods(plane, other).includes(method as Method) &&
          (other.replace(/\/:[A-Za-z]+$/, '') === path ||
            other === path.replace(/\/:[A-Za-z]+$/, '')),
      );
      return below === undefined
        ? takes
        : `${takes} ${method} goes to ${base[plane]}${readable(below)}.`;
    },
  };
};
