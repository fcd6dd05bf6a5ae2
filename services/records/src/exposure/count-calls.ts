import { ApiError, type RouteDefinition } from '@backlot/contract';
import { identify, type MountedRoute, type RouteRequest } from '@backlot/http';
import type { Does, Traffic } from './traffic.ts';

/** What calls of records do, as rules name it. */
const operations: Readonly<Record<string, Does>> = {
  listRecords: 'read',
  getRecord: 'read',
  countRecords: 'read',
  aggregateRecords: 'read',
  exportRecords: 'read',
  listChanges: 'read',
  openEvents: 'read',
  createRecord: 'create',
  importRecords: 'create',
  updateRecord: 'change',
  replaceRecord: 'change',
  deleteRecord: 'delete',
  deleteRecords: 'delete',
  writeBatch: 'batch',
};

/** Collections of one stream. */
const maxStreamed = 20;

const findOperation = ({ operationId }: RouteDefinition): Does | undefined =>
  Object.hasOwn(operations, operationId) ? operations[operationId] : undefined;

/** Of the rules alone: other refusals (limits, quotas, blocked accounts) have codes of their own. */
const isRefusal = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === 'unauthenticated' || error.code === 'forbidden');

/** The one in the path, or those of a stream, which counts once it has ended. */
const collectionsIn = ({ params, query }: RouteRequest): string[] => {
  if (params.collection !== undefined) return [params.collection];
  const { collections } = query;
  const names = typeof collections === 'string' ? collections.split(',') : [];
  return [...new Set(names)].slice(0, maxStreamed);
};

/** The route, whose calls that were done, and those that rules have refused, are counted. */
export const countCalls = (route: MountedRoute, traffic: Pick<Traffic, 'note'>): MountedRoute => {
  const { definition } = route;
  const does = findOperation(definition);
  if (!does) return route;
  return {
    definition,
    middleware(context) {
      const answer = route.middleware(context);
      return async (req, res) => {
        const identity = identify(req, definition, context);
        const note = (isRefused: boolean) => {
          if (identity.isView) return;
          for (const collection of collectionsIn(req))
            traffic.note({ identity, collection, does, isRefused });
        };
        try {
          await answer(req, res);
        } catch (error) {
          if (isRefusal(error)) note(true);
          throw error;
        }
        note(false);
      };
    },
  };
};
