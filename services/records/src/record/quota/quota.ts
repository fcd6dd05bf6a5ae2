import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import { LRUCache } from 'lru-cache';
import { makeRoom } from './make-room.ts';
import { type ProjectTotals, readOwner, readTotals, type Totals } from './totals.ts';

export interface QuotaLimits {
  project: Totals;
  owner: Totals;
}

export interface Quota {
  /** Runs a write that adds at most this much. @throws ApiError quota_reached */
  add<T>(project: Project, growth: Totals, write: () => Promise<T>): Promise<T>;
  /**
   * Runs a change that makes a record at most `growthBytes` larger. Where they don't fit, `write` gets the
   * bytes that do (0 or more) and has to see to it that the record grows by no more.
   */
  change<T>(
    project: Project,
    growthBytes: number,
    write: (roomBytes: number | undefined) => Promise<T>,
  ): Promise<T>;
  /** @throws ApiError quota_reached */
  refuse(project: Project): Promise<never>;
  totals(project: Project): Promise<ProjectTotals>;
  /** Whether the records of the project, or of its owner, have as many bytes as they may. */
  isFull(projectNumber: number): Promise<boolean>;
  limits: QuotaLimits;
}

type Project = Identity['project'];

export interface QuotaDeps {
  database: Database;
  limits: QuotaLimits;
  now: () => number;
}

/** What a process knows of a project. Its own writes count from their admission on. */
interface Usage {
  ownerId: string | null;
  read: ProjectTotals;
  readAtMs: number;
  inFlight: Totals;
  /** Written since the totals were read. */
  written: Totals;
  reading: Promise<void> | undefined;
}

/** How long a process goes without a look at what the others have written. */
const refreshMs = 2000;
const forgetMs = 60_000;
const maxProjects = 10_000;

/** From this share of a quota on, collections that were deleted make room. */
const tightShare = 0.9;
const isTight = (totals: Totals, limit: Totals) =>
  totals.records > limit.records * tightShare || totals.bytes > limit.bytes * tightShare;

const none: Totals = { records: 0, bytes: 0 };
const plus = (a: Totals, b: Totals, sign = 1): Totals => ({
  records: a.records + sign * b.records,
  bytes: a.bytes + sign * b.bytes,
});

const reached = (whose: string, { records, bytes }: Totals) =>
  new ApiError(
    'quota_reached',
    `The records of ${whose} may be ${records} and have ${bytes} bytes in all.`,
    {
      hint: 'Delete records that are no longer needed, or make them smaller. Deleted collections count until they are erased: DELETE …/trash/collections/<name> does that at once.',
    },
  );

/**
 * A write asks what the process knows: the totals as they were read two seconds ago at most, and its own writes since.
 * So one process keeps to a quota, and each further one exceeds it by at most the room that it saw. Before a refusal the
 * totals are read again.
 */
export const createQuota = ({ database, limits, now }: QuotaDeps): Quota => {
  const usages = new LRUCache<number, Usage>({
    max: maxProjects,
    ttl: forgetMs,
    ttlResolution: 0,
    perf: { now },
  });

  /** What the other projects of this owner added up to. */
  const earlierOthers = (ownerId: string | null, { ownerId: earlierId, read }: Usage): Totals =>
    ownerId === earlierId && read.owner ? plus(read.owner, read.project, -1) : none;

  /** Where it fails, the next look tries again. */
  const makeRoomFor = async (project: Project, totals: ProjectTotals) => {
    const { number, ownerId } = project;
    const isFull = (seen: ProjectTotals) => isTight(seen.project, limits.project);
    const isOwnersFull = ({ owner }: ProjectTotals) =>
      owner !== null && isTight(owner, limits.owner);
    const again = () => readTotals(database, project);
    if (isFull(totals))
      await makeRoom(database, { project: number }, async () => isFull(await again()));
    else if (ownerId !== null && isOwnersFull(totals))
      await makeRoom(database, { ownerId }, async () => isOwnersFull(await again()));
  };

  const read = (project: Project, usage: Usage): Promise<void> => {
    const before = usage.written;
    const readAtMs = now();
    usage.reading ??= database
      .detached(() => readTotals(database, project, earlierOthers(project.ownerId, usage)))
      .then((totals) => {
        usage.read = totals;
        usage.readAtMs = readAtMs;
        usage.ownerId = project.ownerId;
        usage.written = plus(usage.written, before, -1);
        database.detached(() => makeRoomFor(project, totals)).catch(() => {});
      })
      .finally(() => {
        usage.reading = undefined;
      });
    return usage.reading;
  };

  /** One that was under way may have begun before what the caller has seen. */
  const readAgain = async (project: Project, usage: Usage): Promise<void> => {
    const underWay = usage.reading;
    if (underWay !== undefined) await underWay.catch(() => {});
    await read(project, usage);
  };

  const find = async (project: Project): Promise<Usage> => {
    const known = usages.get(project.number);
    if (known && known.ownerId === project.ownerId) {
      // Where it fails, the next write asks again.
      if (now() - known.readAtMs >= refreshMs) read(project, known).catch(() => {});
      return known;
    }
    const usage: Usage = known ?? {
      ownerId: project.ownerId,
      read: { project: none, owner: null },
      readAtMs: 0,
      inFlight: none,
      written: none,
      reading: undefined,
    };
    await readAgain(project, usage);
    // Of several that asked at once the first one counts for all.
    const first = usages.get(project.number);
    if (first) return first;
    usages.set(project.number, usage);
    return usage;
  };

  const room = ({ read: { project, owner }, inFlight, written }: Usage): Totals => {
    const own = plus(inFlight, written);
    const inProject = plus(plus(limits.project, project, -1), own, -1);
    if (!owner) return inProject;
    const ofOwner = plus(plus(limits.owner, owner, -1), own, -1);
    return {
      records: Math.min(inProject.records, ofOwner.records),
      bytes: Math.min(inProject.bytes, ofOwner.bytes),
    };
  };

  const fits = (usage: Usage, growth: Totals) => {
    const { records, bytes } = room(usage);
    return growth.bytes <= bytes && (growth.records === 0 || growth.records <= records);
  };

  /** Looks and reserves at once: of those who come in the same moment none may see what another takes as free. */
  const reserve = (usage: Usage, growth: Totals): boolean => {
    if (!fits(usage, growth)) return false;
    usage.inFlight = plus(usage.inFlight, growth);
    return true;
  };

  /** The totals are read again before the answer is no. */
  const admits = async (project: Project, usage: Usage, growth: Totals): Promise<boolean> => {
    if (reserve(usage, growth)) return true;
    await readAgain(project, usage);
    return reserve(usage, growth);
  };

  const refusal = ({ read: { project, owner }, inFlight, written }: Usage, growth: Totals) => {
    const after = plus(plus(plus(project, inFlight), written), growth);
    const isProjects =
      !owner || after.records > limits.project.records || after.bytes > limits.project.bytes;
    return isProjects
      ? reached('this app', limits.project)
      : reached('all apps of this owner', limits.owner);
  };

  const run = async <T>(usage: Usage, growth: Totals, write: () => Promise<T>): Promise<T> => {
    try {
      const result = await write();
      usage.written = plus(usage.written, growth);
      return result;
    } finally {
      usage.inFlight = plus(usage.inFlight, growth, -1);
    }
  };

  return {
    limits,
    async add(project, growth, write) {
      const usage = await find(project);
      if (!(await admits(project, usage, growth))) throw refusal(usage, growth);
      return run(usage, growth, write);
    },
    async change(project, growthBytes, write) {
      const usage = await find(project);
      const growth = { records: 0, bytes: growthBytes };
      if (await admits(project, usage, growth)) return run(usage, growth, () => write(undefined));
      const rest = { records: 0, bytes: Math.max(0, room(usage).bytes) };
      usage.inFlight = plus(usage.inFlight, rest);
      return run(usage, rest, () => write(rest.bytes));
    },
    async refuse(project) {
      throw refusal(await find(project), { records: 0, bytes: 1 });
    },
    async totals(project) {
      const usage = await find(project);
      await readAgain(project, usage);
      return usage.read;
    },
    async isFull(number) {
      const { project, owner } = await database.detached(async () =>
        readTotals(database, { number, ownerId: await readOwner(database, number) }),
      );
      return project.bytes >= limits.project.bytes || (owner?.bytes ?? 0) >= limits.owner.bytes;
    },
  };
};
