import type { Caller, RouteResponse, recordRoutes } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { type FairShares, toRequester, type YieldSlot } from '@backlot/fair-shares';
import type { Identity } from '@backlot/identity';
import { fullAccess } from '../collections/access.ts';
import { isOpenField } from '../collections/advice.ts';
import type { Collection, Collections } from '../collections/collections.ts';
import { personalKind } from '../collections/personal-values.ts';
import { type Document, sampleRecords } from '../shape/sample.ts';
import { isAmount } from './amounts.ts';
import { strangersRead, stricterRules } from './stricter.ts';
import { type CountedCalls, readTraffic, trafficSince } from './traffic-reports.ts';

type Exposure = RouteResponse<typeof recordRoutes.getExposure>;
type Exposed = Exposure['items'][number];

export interface ExposureDeps {
  database: Database;
  collections: Collections;
  scans: FairShares;
  now: () => number;
}

/** Of each half of a sample. */
const bounds = { records: 50, bytes: 256 * 1024 };
/** Collections that come after so much work are listed without a sample. */
const maxWorkMs = 2000;
const maxFields = 50;

const fieldsIn = (documents: readonly Document[], collection: Collection): Exposed['fields'] => {
  const found = new Map<string, Exposed['fields'][number]['kind']>(
    Object.entries(collection.personal ?? {}),
  );
  for (const document of documents) {
    for (const [field, value] of Object.entries(document)) {
      if (found.has(field) || found.size >= maxFields) continue;
      const kind = personalKind(value) ?? (isAmount(field, value) ? 'amount' : undefined);
      if (kind) found.set(field, kind);
    }
  }
  const toField = (field: string) => isOpenField(collection.access, field);
  return [...found].map(([field, kind]) => ({ field, kind, isOpen: toField(field) }));
};

const sumByCaller = (
  counted: readonly CountedCalls[],
  pick: (one: CountedCalls) => number,
): Exposed['reads'] => {
  const sums: Partial<Record<Caller, number>> = {};
  for (const one of counted) {
    const calls = pick(one);
    if (calls > 0) sums[one.caller] = (sums[one.caller] ?? 0) + calls;
  }
  return sums;
};

export type Exposures = ReturnType<typeof createExposures>;

/** Who reads what of a project's collections, and what of it looks as if fewer should. */
export const createExposures = ({ database, collections, scans, now }: ExposureDeps) => {
  const present = (
    projectId: string,
    collection: Collection,
    counted: readonly CountedCalls[],
    documents: readonly Document[],
  ): Exposed => {
    const { name, access } = collection;
    const fields = fieldsIn(documents, collection);
    const reads = sumByCaller(counted, ({ does, done }) => (does === 'read' ? done : 0));
    const openFields = fields.filter(({ isOpen }) => isOpen).map(({ field }) => field);
    const path = `/api/platform/projects/${projectId}/collections/${name}`;
    return {
      name,
      access,
      strangersRead: strangersRead(access),
      reads,
      writes: sumByCaller(counted, ({ does, done }) => (does === 'read' ? 0 : done)),
      refused: sumByCaller(counted, ({ refused }) => refused),
      sampled: documents.length,
      fields,
      stricter: stricterRules({ path, access, reads, openFields }),
    };
  };

  const describe = async (identity: Identity, yieldSlot: YieldSlot): Promise<Exposure> => {
    const { project } = identity;
    const since = trafficSince(now());
    const counted = Map.groupBy(
      await readTraffic(database, project.number, since),
      ({ collection }) => collection,
    );
    const items: Exposed[] = [];
    let workedMs = 0;
    for (const { name } of await collections.list(project.number)) {
      const startedAt = performance.now();
      const collection = await collections.find(project.number, name);
      if (!collection) continue;
      const sampled = { collection, access: fullAccess(collection.access) };
      const documents =
        workedMs < maxWorkMs ? await sampleRecords(database, sampled, bounds, yieldSlot) : [];
      items.push(present(project.id, collection, counted.get(name) ?? [], documents));
      workedMs += performance.now() - startedAt;
    }
    return { since: since.toISOString(), items };
  };

  return (identity: Identity, signal: AbortSignal | undefined): Promise<Exposure> =>
    scans.run(toRequester(identity), (yieldSlot) => describe(identity, yieldSlot), { signal });
};
