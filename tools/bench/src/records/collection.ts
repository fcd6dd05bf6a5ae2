import { apiAt } from '@backlot/testing/platform-api';
import type { LoadRequest } from '../load/load.ts';
import { data } from '../prepare.ts';
import { type Bed, index } from './bed.ts';
import { connections } from './raw-loop.ts';
import { type Seed, seed } from './seed.ts';

export interface Subject extends Seed {
  /** Calls of the collection, over 8 connections. */
  request: LoadRequest;
}

/** A collection of `demo` with so many records, and with these indexes where collections take any. */
export const openCollection = async (
  bed: Bed,
  name: string,
  rows: number,
  indexes: readonly string[] = [],
): Promise<Subject> => {
  const { origin, token, client, place } = bed;
  const base = `${origin}/api/runtime/demo`;
  const made = await apiAt(base)('POST', `/db/${name}`, { token, body: { data } });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  if (indexes.length > 0) await index(origin, name, indexes);
  const { rows: found } = await client.query<{ coll_id: number }>(
    'SELECT coll_id FROM records.collections WHERE project_id = $1 AND name = $2',
    [place.projectId, name],
  );
  const subject = { projectId: place.projectId, collectionId: found[0]?.coll_id ?? 0, rows };
  await seed(client, subject);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return { ...subject, request: { url: `${base}/db/${name}`, headers, connections } };
};
