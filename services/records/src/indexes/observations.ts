import { type Database, DatabaseUnavailable, workLeft } from '@backlot/database';

import { LRUCache } from 'lru-cache';
import { readAcrossProjects } from '../across-projects.ts';
import type { Collection } from '../collections/collections.ts';
import { lockCollection } from '../collections/stored/generations.ts';
import type { WhyMissing } from '../collections/stored/missing-indexes.ts';
import type { Slot } from '../collections/stored/slots.ts';
import type { Selection } from '../query/selection.ts';
import { inCollection } from '../sql.ts';
import { canHaveSlot, type SlotAssignment } from './assign.ts';
import { findOrReplace } from './space-saving.ts';

/** What lists and counts by a field have cost for want of an index. */
interface Seen {
  weight: number;
  /** What of it fields had that this one has replaced. */
  inheritedMs: number;
  scans: number;
  /** Those that one statement did not answer. */
  slow: number;
}

/** In a day, by all processes together. */
interface Observation extends Seen {
  since: Date;
}

interface SeenCollection {
  collection: Collection;
  weight: number;
  fields: Map<string, Seen>;
}

export interface Observations {
  /** A list or count has looked through records, for which an index on one of the fields would do. */
  scanned(selection: Selection, fields: readonly string[], scan: Scan): void;
  used(collection: Collection, slot: Slot): void;
  /** Adds what this process has seen to what all have, and assigns slots to the fields that need one. */
  report(): Promise<void>;
}

export interface Scan {
  ms: number;
  isSlow: boolean;
}

export const reportEveryMs = 5000;

/** Between two reports. */
const maxCollections = 1000;
const maxUses = 10_000;
/** Between two reports, and in a day. Whoever asks for names that they make up replaces the least of them. */
const maxFieldsOfCollection = 50;

/** Looked for in a sample of the records with each report. */
const maxCandidates = 10;
/** Fields without values to compare, which are not looked for again at once. */
const maxUnsuitable = 10_000;
const unsuitableMs = 10 * 60_000;

/** A scan of a smaller collection takes no longer than a few milliseconds. */
const leastRecords = 2000;
/** From this size on, one slow list is enough. */
const slowRecords = 20_000;
/** In a day, as many records may be looked at for a field as the collection has, so many times. */
const timesOfSize = 20;
const msPerRecord = 0.002;

const readSql = `SELECT field, scanned_ms AS weight, inherited_ms AS "inheritedMs", scans, slow, since
  FROM observations WHERE ${inCollection}`;

const writeSql = `INSERT INTO observations (project_id, coll_id, field, scanned_ms, inherited_ms, scans, slow, since)
  SELECT $1, $2, * FROM unnest($3::text[], $4::float8[], $5::float8[], $6::int[], $7::int[], $8::timestamptz[])
  ON CONFLICT (project_id, coll_id, field) DO UPDATE SET scanned_ms = excluded.scanned_ms,
    inherited_ms = excluded.inherited_ms, scans = excluded.scans, slow = excluded.slow, since = excluded.since`;

const dayMs = 24 * 60 * 60_000;

export interface ObservationDeps {
  database: Database;
  slots: Pick<SlotAssignment, 'observe'>;
  now: () => number;
}

const createSeen = (replaced: Seen | undefined): Seen => {
  const weight = replaced?.weight ?? 0;
  return { weight, inheritedMs: weight, scans: 0, slow: 0 };
};

const addTo = (seen: Seen, { weight, inheritedMs, scans, slow }: Seen): void => {
  seen.weight += weight;
  seen.inheritedMs += inheritedMs;
  seen.scans += scans;
  seen.slow += slow;
};

const needsIndex = ({ weight, slow }: Seen, records: number): boolean =>
  weight > records * timesOfSize * msPerRecord || (slow > 0 && records >= slowRecords);

export const createObservations = ({ database, slots, now }: ObservationDeps): Observations => {
  let seen = new Map<string, SeenCollection>();
  const uses = new LRUCache<string, { collection: Collection; field: string; count: number }>({
    max: maxUses,
  });
  const unsuitable = new LRUCache<string, true>({
    max: maxUnsuitable,
    ttl: unsuitableMs,
    ttlResolution: 0,
    perf: { now },
  });
  const keyFor = ({ projectNumber, id }: Collection, field: string) =>
    `${projectNumber} ${id} ${field}`;

  /** Returns what has been observed by now of the fields that were seen. */
  const add = ({ collection, fields }: SeenCollection): Promise<[string, Observation][]> =>
    database.transaction(async () => {
      await lockCollection(database, collection);
      const key = [collection.projectNumber, collection.id];
      const rows = await database.query<Observation & { field: string }>(readSql, key);
      const current = rows.filter(({ since }) => since.getTime() > now() - dayMs);
      const kept = new Map(current.map(({ field, ...observation }) => [field, observation]));
      for (const [field, one] of fields) {
        const observation = findOrReplace(kept, maxFieldsOfCollection, field, (replaced) => ({
          ...createSeen(replaced),
          since: replaced?.since ?? new Date(now()),
        }));
        addTo(observation, one);
      }
      const gone = rows.map(({ field }) => field).filter((field) => !kept.has(field));
      await database.query(`DELETE FROM observations WHERE ${inCollection} AND field = ANY ($3)`, [
        ...key,
        gone,
      ]);
      const changed = [...kept].filter(([field]) => fields.has(field));
      const column = (name: keyof Observation) => changed.map(([, one]) => one[name]);
      await database.query(writeSql, [
        ...key,
        changed.map(([field]) => field),
        column('weight'),
        column('inheritedMs'),
        column('scans'),
        column('slow'),
        column('since'),
      ]);
      return changed;
    });

  const tellWhy = (
    { projectNumber, id }: Collection,
    states: ReadonlyMap<string, WhyMissing>,
  ): Promise<unknown> =>
    database.query(
      `UPDATE observations SET state = given.state FROM unnest($3::text[], $4::text[]) given(field, state)
       WHERE ${inCollection} AND observations.field = given.field AND observations.state <> given.state`,
      [projectNumber, id, [...states.keys()], [...states.values()]],
    );

  const reportOne = async (one: SeenCollection): Promise<void> => {
    const { collection } = one;
    const [size] = await database.query<{ records: number }>(
      `SELECT row_count AS records FROM collections WHERE ${inCollection}`,
      [collection.projectNumber, collection.id],
    );
    const records = size?.records ?? 0;
    const isSmall = records < leastRecords;
    // What a small collection is asked for is told where it was slow.
    if (isSmall && ![...one.fields.values()].some(({ slow }) => slow > 0)) return;
    const observed = await add(one);
    const states = new Map<string, WhyMissing>(
      observed.map(([field]) => [field, isSmall ? 'few_records' : 'seldom']),
    );
    const wanted = observed.filter(
      ([, observation]) => !isSmall && needsIndex(observation, records),
    );
    const candidates = chooseSome(wanted, maxCandidates)
      .sort(([, a], [, b]) => b.weight - a.weight)
      .map(([field, { weight, inheritedMs, scans }]) => ({
        field,
        scans,
        scannedMs: weight - inheritedMs,
      }));
    for (const [field] of wanted) states.set(field, 'failed');
    try {
      const missing =
        candidates.length > 0 ? await slots.observe(collection, candidates) : new Map();
      for (const [field] of wanted) states.set(field, missing.get(field) ?? 'waiting');
    } finally {
      await tellWhy(collection, states);
    }
    for (const [field, why] of states)
      if (why === 'no_values') unsuitable.set(keyFor(collection, field), true);
  };

  const addUses = async () => {
    const counted = [...uses.values()];
    uses.clear();
    for (const { collection, field, count } of counted) {
      await database.query(
        `UPDATE slots SET uses = uses + $4, used_at = $5 WHERE ${inCollection} AND field = $3`,
        [collection.projectNumber, collection.id, field, count, new Date(now())],
      );
    }
  };

  return {
    scanned({ collection }, given, { ms, isSlow }) {
      const indexed = new Set(
        collection.slots.filter(({ state }) => state !== 'dropping').map(({ field }) => field),
      );
      const fields = given.filter(
        (field) =>
          !indexed.has(field) && canHaveSlot(field) && !unsuitable.has(keyFor(collection, field)),
      );
      if (fields.length === 0) return;
      const own = findOrReplace(seen, maxCollections, keyFor(collection, ''), (replaced) => ({
        collection,
        weight: replaced?.weight ?? 0,
        fields: new Map(),
      }));
      own.collection = collection;
      own.weight += ms;
      const scan = { weight: ms, inheritedMs: 0, scans: 1, slow: Number(isSlow) };
      for (const field of fields)
        addTo(findOrReplace(own.fields, maxFieldsOfCollection, field, createSeen), scan);
    },
    used(collection, { field }) {
      const key = keyFor(collection, field);
      const use = uses.get(key);
      if (use) use.count += 1;
      else uses.set(key, { collection, field, count: 1 });
    },
    async report() {
      await addUses();
      const reported = [...seen.values()];
      seen = new Map();
      const failures: unknown[] = [];
      for (const one of reported) {
        try {
          await reportOne(one);
        } catch (error) {
          if (error instanceof DatabaseUnavailable) throw error;
          failures.push(error);
        }
      }
      if (failures.length > 0)
        throw new AggregateError(failures, 'What some collections need was not reported.');
    },
  };
};

const projectsAtOnce = 1000;

/** By chance, where there are more: no order of made-up names can keep one that has values out for long. */
const chooseSome = <T>(items: readonly T[], most: number): T[] => {
  const left = [...items];
  while (left.length > most) left.splice(Math.floor(Math.random() * left.length), 1);
  return left;
};

/** Forgets what nobody has scanned for since yesterday. */
export const forgetObservations = async (database: Database, now: () => number) => {
  const before = new Date(now() - dayMs);
  const projects = await readAcrossProjects<{ project: number }>(
    database,
    `SELECT DISTINCT project_id AS project FROM observations WHERE since < $1 LIMIT ${projectsAtOnce}`,
    [before],
  );
  for (const { project } of projects) {
    await database.query('DELETE FROM observations WHERE project_id = $1 AND since < $2', [
      project,
      before,
    ]);
  }
  return projects.length === projectsAtOnce ? workLeft : undefined;
};
