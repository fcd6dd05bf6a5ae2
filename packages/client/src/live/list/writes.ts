import { newId } from '../../new-id.ts';
import type { CallOptions, Method } from '../../transport.ts';
import type { Fields, Item } from '../../values.ts';
import { isObject } from '../../values.ts';

/** What a call is about to do to one record. */
export interface Write {
  /** Of a create one of this client, until the server has given its own. */
  id: string;
  isCreate?: true;
  /** What becomes of the record; undefined where it will be gone, or is not there. */
  apply(record: Item | undefined): Item | undefined;
}

export interface SentWrites {
  collection: string;
  writes: Write[];
  /** The records as the server has them now, where it says so; rejects where it refused. */
  answer: Promise<Item[]>;
}

interface Body extends Fields {
  data?: Fields;
  unset?: readonly string[];
  inc?: Record<string, number>;
  groupId?: string;
}

const newRecord = (id: string, userId: string | null, { data, groupId }: Body): Item => {
  const now = new Date().toISOString();
  const group = groupId === undefined ? {} : { groupId };
  return { ...data, ...group, id, ownerId: userId, createdAt: now, updatedAt: now };
};

const mergeDeep = (value: unknown, change: unknown): unknown => {
  if (!isObject(value) || !isObject(change)) return change;
  const merged = { ...value };
  for (const [name, part] of Object.entries(change)) merged[name] = mergeDeep(merged[name], part);
  return merged;
};

const update = (id: string, { data = {}, unset = [], inc = {} }: Body, isDeep: boolean): Write => ({
  id,
  apply(record) {
    if (record === undefined) return undefined;
    const changed = { ...record, ...(isDeep ? (mergeDeep(record, data) as Fields) : data) };
    for (const name of unset) delete changed[name];
    for (const [name, by] of Object.entries(inc)) changed[name] = Number(changed[name] ?? 0) + by;
    return { ...changed, id, updatedAt: new Date().toISOString() };
  },
});

const replace = (id: string, userId: string | null, body: Body, mayCreate: boolean): Write => ({
  id,
  apply(record) {
    if (record === undefined && !mayCreate) return undefined;
    const system = record ? ['ownerId', 'groupId', 'createdAt'] : [];
    const kept = system.filter((name) => record?.[name] !== undefined);
    const before = Object.fromEntries(kept.map((name) => [name, record?.[name]]));
    return { ...newRecord(id, userId, body), ...before };
  },
});

const create = (userId: string | null, body: Body): Write => {
  const record = newRecord(newId(), userId, body);
  return { id: record.id, isCreate: true, apply: () => record };
};

const remove = (id: string): Write => ({ id, apply: () => undefined });

const inBatch = (userId: string | null, body: Fields): Write[] => {
  const list = <T>(name: string) => (Array.isArray(body[name]) ? (body[name] as T[]) : []);
  return [
    ...list<Body>('create').map((one) => create(userId, one)),
    ...list<Body & { id: string }>('update').map((one) => update(one.id, one, false)),
    ...list<string>('delete').map(remove),
  ];
};

/** What of a client's calls changes records; undefined for all others. */
export const readWrites = (
  userId: string | null,
  [method, path, { body, query = {} }]: [Method, string, CallOptions],
  answer: Promise<Response>,
): SentWrites | undefined => {
  const [, name, given] = /^\/db\/([^/]+)(?:\/([^/]+))?$/.exec(path) ?? [];
  if (name === undefined || method === 'GET' || (body !== undefined && !isObject(body)))
    return undefined;
  const id = decodeURIComponent(given ?? '');
  const content: Body = body ?? {};
  const writes = (): Write[] => {
    if (given === '_batch') return inBatch(userId, content);
    if (given === undefined) return method === 'POST' ? [create(userId, content)] : [];
    if (method === 'DELETE') return [remove(id)];
    if (method === 'PATCH') return [update(id, content, query.merge === 'deep')];
    return method === 'PUT' ? [replace(id, userId, content, query.upsert === true)] : [];
  };
  const isRecord = method !== 'DELETE' && given !== '_batch';
  const found = writes();
  if (found.length === 0) return undefined;
  return {
    collection: decodeURIComponent(name),
    writes: found,
    // Cloned before whoever called reads it.
    answer: answer
      .then((response) => (isRecord ? response.clone().json() : undefined))
      .then((record) => (record === undefined ? [] : [record as Item])),
  };
};
