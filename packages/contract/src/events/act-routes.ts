import type { RouteDefinition } from '../define-route.ts';

/** Routes whose success changes the control plane: each of them leaves a line in the audit log. */
export const isAct = ({
  plane,
  method,
  changesNothing,
}: Pick<RouteDefinition, 'plane' | 'method' | 'changesNothing'>): boolean =>
  plane === 'platform' && method !== 'GET' && changesNothing !== true;

/** What an act is about, without its project: `webhooks/orders`, `limits`; of the project itself `project`. */
export const targetFor = (
  { path }: Pick<RouteDefinition, 'path'>,
  params: Readonly<Record<string, unknown>> = {},
): string => {
  const rest = path.replace(/^\/projects\/:projectId/, '').replace(/^\//, '');
  const filled = rest
    .split('/')
    .map((part) => (part[0] === ':' ? String(params[part.slice(1)] ?? '') : part))
    .join('/');
  return (filled || 'project').slice(0, 300);
};
