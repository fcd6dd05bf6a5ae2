import { requestRoutes } from '@backlot/contract';
import { type MountedRoute, route } from '@backlot/http';
import type { CallLog } from '../call-log/call-log.ts';
import type { Projects } from '../projects/projects.ts';
import { toScope } from '../projects/scope.ts';

/** Calls of a project, as they happen and since. */
export const routesForRequests = (callLog: CallLog, projects: Projects): MountedRoute[] => [
  route(requestRoutes.listRequests, async ({ query, identity }) => {
    const scope = toScope(identity);
    await projects.get(scope);
    return { body: await callLog.list(scope.projectNumber, query) };
  }),
  route(requestRoutes.streamRequests, async ({ query, identity, header, signal }) => {
    await projects.get(toScope(identity));
    const { lastEventId, ...filter } = query;
    const after = header('last-event-id') ?? lastEventId;
    const { project } = identity;
    return { events: await callLog.streams.open(project, filter, after, signal) };
  }),
];
