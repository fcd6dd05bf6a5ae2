import { ApiError, type RouteDefinition } from '@backlot/contract';
import { JsonText } from '../answer/reply.ts';
import type { Call } from '../call/call.ts';

type Asked = Pick<Call<RouteDefinition>, 'identity' | 'params'>;

/** Reads what a change is about, as its callers read it: what they do not see stands in no log either. */
export interface Reader {
  /** Of the route that reads. */
  name: string;
  /** Undefined where there is none. */
  read(call: Asked): Promise<unknown>;
}

export type FindReader = (definition: RouteDefinition) => Reader | undefined;

const mostListed = 1000;

const toJson = (body: unknown): unknown =>
  body instanceof JsonText ? JSON.parse(body.pieces.join('')) : body;

interface ReadingRoute {
  definition: RouteDefinition;
  answer(call: Pick<Call<RouteDefinition>, 'identity' | 'params' | 'query'>): Promise<unknown>;
}

/** A route of a service, which may be one that can be asked. */
type AnyRoute = Pick<ReadingRoute, 'definition'> & Partial<ReadingRoute>;

const isReading = (mounted: AnyRoute): mounted is ReadingRoute => {
  const { method, answers } = mounted.definition;
  return method === 'GET' && answers === undefined && mounted.answer !== undefined;
};

const lastParameter = /\/:([^/]+)$/;

const itemNamed = (list: unknown, name: unknown): unknown => {
  const { items } = { ...(list as object) } as { items?: unknown };
  if (!Array.isArray(items)) return undefined;
  return items.find((item: { id?: unknown; name?: unknown }) =>
    [item.name, item.id].includes(name),
  );
};

const readWith = async ({ definition, answer }: ReadingRoute, { identity, params }: Asked) => {
  const known = definition.params ? Object.keys(definition.params.shape) : [];
  const own = Object.fromEntries(
    Object.entries((params as object | undefined) ?? {}).filter(([name]) => known.includes(name)),
  );
  const query = definition.query?.safeParse({ limit: String(mostListed) });
  const asked = query?.success ? query.data : definition.query?.parse({});
  try {
    const reply = await answer({ identity, params: own, query: asked });
    return toJson(reply);
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return undefined;
    throw error;
  }
};

/**
 * For a change of something: the route that reads it, at the same path; else the list in which it stands, whose path
 * lacks the last parameter.
 */
export const createFindReader = (routes: readonly AnyRoute[]): FindReader => {
  const byPath = new Map(
    routes
      .filter(isReading)
      .map((mounted) => [`${mounted.definition.plane} ${mounted.definition.path}`, mounted]),
  );
  return ({ method, plane, path }) => {
    // What POST makes stands in its answer.
    if (method === 'POST') return undefined;
    const same = byPath.get(`${plane} ${path}`);
    if (same) return { name: same.definition.operationId, read: (call) => readWith(same, call) };
    const parameter = lastParameter.exec(path)?.[1];
    const list = byPath.get(`${plane} ${path.replace(lastParameter, '')}`);
    if (!list || parameter === undefined) return undefined;
    return {
      name: list.definition.operationId,
      async read(call) {
        const { [parameter]: name } = { ...(call.params as object) } as Record<string, unknown>;
        return itemNamed(await readWith(list, call), name);
      },
    };
  };
};
