import type { Caller } from '@backlot/contract';
import { type Database, workLeft } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import { LRUCache } from 'lru-cache';
import { readAcrossProjects } from '../across-projects.ts';
import type { CountedReads } from './open-reads.ts';
import { addVisitor, mergeVisitors, noVisitors, type Registers } from './visitor-count.ts';

export type Does = 'read' | 'create' | 'change' | 'delete' | 'batch';

export interface Called {
  identity: Pick<Identity, 'project' | 'caller' | 'userId' | 'ip'>;
  collection: string;
  does: Does;
  isRefused: boolean;
}

interface Counted {
  collection: string;
  hour: number;
  does: Does;
  caller: Caller;
  done: number;
  refused: number;
}

interface OfProject {
  counts: Map<string, Counted>;
  /** By the day's first millisecond. */
  visitors: Map<number, Registers>;
}

export const reportEveryMs = 5000;
const trafficKeptHours = 48;
const visitsKeptDays = 90;

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;
/** Between two reports; what is beyond is not counted. A collection has 25 at most, names that are none too. */
const maxProjects = 2000;
const maxCounts = 2500;
/** Visitors of whom is known that they were counted. */
const maxKnown = 50_000;

const addSql = `INSERT INTO traffic (project_id, coll_id, hour, does, caller, done, refused)
  SELECT own.project_id, own.coll_id, given.hour, given.does, given.caller, given.done, given.refused
    FROM collections own, unnest($2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::int8[], $7::int8[])
      AS given (name, hour, does, caller, done, refused)
   WHERE own.project_id = $1 AND own.name = given.name
   ORDER BY own.coll_id, given.hour, given.does, given.caller
  ON CONFLICT (project_id, coll_id, hour, does, caller)
  DO UPDATE SET done = traffic.done + excluded.done, refused = traffic.refused + excluded.refused`;

const readsByStrangers = (counts: readonly Counted[]): CountedReads[] =>
  counts
    .filter(({ caller, does, done }) => caller === 'anonymous' && does === 'read' && done > 0)
    .map(({ collection, done }) => ({ collection, reads: done }));

export interface Traffic {
  note(called: Called): void;
  /** Writes what has come since the last report; what a killed process had not written is lost. */
  report(): Promise<void>;
}

/** Counts calls of records in memory and adds them up now and then: a call itself writes nothing. */
export const createTraffic = (
  database: Database,
  now: () => number,
  noteOpenReads: (projectNumber: number, counted: readonly CountedReads[]) => Promise<void>,
): Traffic => {
  let projects = new Map<number, OfProject>();
  const known = new LRUCache<string, true>({ maxSize: maxKnown, sizeCalculation: () => 1 });

  const noteVisitor = (own: OfProject, { identity }: Called, at: number) => {
    const { project, caller, userId, ip } = identity;
    if (caller !== 'anonymous' && caller !== 'user') return;
    const day = at - (at % dayMs);
    const name = `${project.number} ${day} ${userId ?? ip}`;
    if (known.has(name)) return;
    known.set(name, true);
    const registers = own.visitors.get(day) ?? noVisitors();
    if (addVisitor(registers, name)) own.visitors.set(day, registers);
  };

  const addCounts = async (projectNumber: number, counts: readonly Counted[]) => {
    const column = <Name extends keyof Counted>(name: Name) => counts.map((one) => one[name]);
    await database.query(addSql, [
      projectNumber,
      column('collection'),
      column('hour').map((hour) => new Date(hour)),
      column('does'),
      column('caller'),
      column('done'),
      column('refused'),
    ]);
  };

  const addVisits = (projectNumber: number, day: number, registers: Registers) =>
    database.transaction(async () => {
      const key = [projectNumber, new Date(day).toISOString().slice(0, 10)];
      const empty = Buffer.from(noVisitors());
      await database.query(
        'INSERT INTO visits (project_id, day, registers) VALUES ($1, $2, $3) ON CONFLICT (project_id, day) DO NOTHING',
        [...key, empty],
      );
      const [row] = await database.query<{ registers: Buffer }>(
        'SELECT registers FROM visits WHERE project_id = $1 AND day = $2 FOR UPDATE',
        key,
      );
      const merged = mergeVisitors(registers, row?.registers ?? empty);
      await database.query('UPDATE visits SET registers = $3 WHERE project_id = $1 AND day = $2', [
        ...key,
        Buffer.from(merged),
      ]);
    });

  return {
    note(called) {
      const { identity, collection, does, isRefused } = called;
      const { number } = identity.project;
      const known = projects.get(number);
      if (!known && projects.size >= maxProjects) return;
      const own = known ?? { counts: new Map(), visitors: new Map() };
      if (!known) projects.set(number, own);
      const at = now();
      const hour = at - (at % hourMs);
      const key = `${collection} ${hour} ${does} ${identity.caller}`;
      const counted = own.counts.get(key);
      const one = counted ?? {
        collection,
        hour,
        does,
        caller: identity.caller,
        done: 0,
        refused: 0,
      };
      if (isRefused) one.refused += 1;
      else one.done += 1;
      if (!counted && own.counts.size < maxCounts) own.counts.set(key, one);
      noteVisitor(own, called, at);
    },
    async report() {
      const reported = projects;
      projects = new Map();
      for (const [number, { counts, visitors }] of reported) {
        if (counts.size > 0) await addCounts(number, [...counts.values()]);
        await noteOpenReads(number, readsByStrangers([...counts.values()]));
        for (const [day, registers] of visitors) await addVisits(number, day, registers);
      }
    },
  };
};

const projectsAtOnce = 1000;

/** Forgets what is older than it is kept. */
export const forgetTraffic = async (database: Database, now: () => number) => {
  const before = new Date(now() - trafficKeptHours * hourMs);
  const firstDay = new Date(now() - visitsKeptDays * dayMs).toISOString().slice(0, 10);
  const [ofTraffic, ofVisits] = [
    await readAcrossProjects<{ project: number }>(
      database,
      `SELECT DISTINCT project_id AS project FROM traffic WHERE hour < $1 LIMIT ${projectsAtOnce}`,
      [before],
    ),
    await readAcrossProjects<{ project: number }>(
      database,
      `SELECT DISTINCT project_id AS project FROM visits WHERE day < $1 LIMIT ${projectsAtOnce}`,
      [firstDay],
    ),
  ];
  for (const { project } of ofTraffic)
    await database.query('DELETE FROM traffic WHERE project_id = $1 AND hour < $2', [
      project,
      before,
    ]);
  for (const { project } of ofVisits)
    await database.query('DELETE FROM visits WHERE project_id = $1 AND day < $2', [
      project,
      firstDay,
    ]);
  const mayBeMore = [ofTraffic, ofVisits].some(({ length }) => length === projectsAtOnce);
  return mayBeMore ? workLeft : undefined;
};
