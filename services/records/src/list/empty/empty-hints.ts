import type { Database } from '@backlot/database';
import type { FairShares } from '@backlot/fair-shares';
import type { Identity } from '@backlot/identity';
import { LRUCache } from 'lru-cache';
import { type Access, bypassesRules } from '../../collections/access.ts';
import type { RowPolicy } from '../../collections/terms/terms.ts';
import type { Reader } from '../../reader.ts';
import { type SampleBounds, type Sampled, sampleRecords } from '../../shape/sample.ts';
import { type Filter, fieldsIn } from '../../where/filter.ts';
import { explainCollection, explainEmpty, explainFields } from './explain.ts';
import { type KnownFields, knowFields } from './known-fields.ts';

/** Says why a filtered list or count that found nothing may have been meant otherwise. */
export interface EmptyHints {
  /** From a sample of what the caller may read. Undefined where it does not tell, or where there is no time to look. */
  find(filter: Filter, sampled: Sampled, reader: Reader): Promise<string | undefined>;
  /** The same of fields that an answer names and shows nothing of, such as those of `sort`. */
  findMissing(
    paths: readonly string[],
    sampled: Sampled,
    reader: Reader,
  ): Promise<string | undefined>;
  /** For a collection that is not there. To others than those whom no rule binds, names are private. */
  findCollection(identity: Identity, name: string): Promise<string | undefined>;
}

export interface EmptyHintsDeps {
  database: Database;
  scans: FairShares;
  now: () => number;
  /** After a sample its collection rests so many times as long; an app may well ask for what is not there. */
  restFactor?: number;
  /** For a turn among the scans, and for the sample itself. */
  waitMs?: number;
}

const sampleBounds: SampleBounds = { records: 500, bytes: 256 * 1024 };

/** What changes of somebody's rights acts within this time, as everywhere. */
const cacheTtlMs = 5000;
const maxKnown = 2000;
const maxKnownBytes = 16 * 1024 * 1024;
const usualWaitMs = 500;
const usualRestFactor = 20;

/** Callers with the same key read the same. */
const rightsKey = ({ collection, access }: Sampled): string => {
  const { rights, fields, userId, role, groups } = access;
  const policies: RowPolicy[] = [rights.read, ...fields.hidden.map(({ policy }) => policy)];
  const isAboutWho = policies.some((policy) => typeof policy !== 'string');
  const who = isAboutWho ? [userId, role, groups] : null;
  return JSON.stringify([collection.projectNumber, collection.id, rights.read, fields.hidden, who]);
};

const readsNothing = ({ rights }: Access) => rights.read === 'none';

export const createEmptyHints = ({
  database,
  scans,
  now,
  restFactor = usualRestFactor,
  waitMs = usualWaitMs,
}: EmptyHintsDeps): EmptyHints => {
  const cache = new LRUCache<string, KnownFields>({
    max: maxKnown,
    maxSize: maxKnownBytes,
    ttl: cacheTtlMs,
    ttlResolution: 0,
    perf: { now },
    sizeCalculation: ({ sizeBytes }, key) => sizeBytes + key.length + 1,
  });
  /** Until when (performance.now()) a collection is not looked at again. */
  const resting = new LRUCache<string, number>({ max: 10_000 });

  const look = (key: string, sampled: Sampled, { requester, signal }: Reader) => {
    const { projectNumber, id } = sampled.collection;
    const place = `${projectNumber}/${id}`;
    if ((resting.get(place) ?? 0) > performance.now()) return undefined;
    const given = AbortSignal.timeout(waitMs);
    return scans.run(
      requester,
      async (yieldSlot) => {
        const found = cache.get(key);
        if (found) return found;
        const startedAt = performance.now();
        const documents = await sampleRecords(database, sampled, sampleBounds, yieldSlot);
        const known = knowFields(documents);
        const endedAt = performance.now();
        resting.set(place, endedAt + (endedAt - startedAt) * restFactor);
        cache.set(key, known);
        return known;
      },
      { signal: signal ? AbortSignal.any([signal, given]) : given },
    );
  };

  /** Undefined where there is nothing to know, or no time for it. */
  const know = async (sampled: Sampled, reader: Reader): Promise<KnownFields | undefined> => {
    if (readsNothing(sampled.access)) return undefined;
    const key = rightsKey(sampled);
    try {
      const known = cache.get(key) ?? (await look(key, sampled, reader));
      return known?.isEmpty ? undefined : known;
    } catch {
      return undefined;
    }
  };

  return {
    async findCollection(identity, name) {
      if (!bypassesRules(identity)) return undefined;
      const rows = await database.query<{ name: string }>(
        'SELECT name FROM collections WHERE project_id = $1 AND deleted_at IS NULL ORDER BY name LIMIT 100',
        [identity.project.number],
      );
      return explainCollection(
        name,
        rows.map((row) => row.name),
      );
    },
    async find(filter, sampled, reader) {
      if (fieldsIn(filter).length === 0) return undefined;
      const known = await know(sampled, reader);
      return known && explainEmpty(filter, known);
    },
    async findMissing(paths, sampled, reader) {
      if (paths.length === 0) return undefined;
      const known = await know(sampled, reader);
      return known && explainFields(paths, known);
    },
  };
};
