import type { Method } from '@backlot/contract';
import findMyWay from 'find-my-way';

/** One method and path, with what stands for it. */
export type TableRow<Entry> = readonly [method: Method, path: string, entry: Entry];

export interface FoundRow<Entry> {
  entry: Entry;
  /** Of the path, decoded. */
  params: Record<string, string>;
}

/** Null where there is no such row. @param path without its query */
export type FindRow<Entry> = (method: Method, path: string) => FoundRow<Entry> | null;

/** Longer than a request's head may be: a parameter's length is the service's rule. */
const maxParamLength = 64 * 1024;

/** What a path means: the same to the gateway and to a service. */
export const createRouteTable = <Entry>(rows: Iterable<TableRow<Entry>>): FindRow<Entry> => {
  const router = findMyWay({ maxParamLength });
  for (const [method, path, entry] of rows) router.on(method, path, () => {}, { entry });
  return (method, path) => {
    // A parameter is never empty, though the router would take an empty one at the end.
    if (path.includes('//') || path.endsWith('/')) return null;
    const found = router.find(method, path);
    return found && { entry: found.store.entry, params: found.params as Record<string, string> };
  };
};
