import type { EventPayloads } from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import { LRUCache } from 'lru-cache';
import { dayMs, logSlot } from '../record/change/log-sql.ts';
import type { SentDeletion } from '../record/change/send-change.ts';
import { epochMsSql } from '../sql.ts';
import { toIso } from '../timestamps.ts';

export interface DeletionNotices {
  /** Counts what one key, user or visitor deletes; the log is asked where it may be much. */
  note(deletion: SentDeletion): void;
  /** Tells owners of what was much, once a day and project. */
  run(): Promise<void>;
}

interface DeletionNoticesDeps {
  database: Database;
  outbox: Outbox<EventPayloads>;
  /** Epoch milliseconds. */
  now: () => number;
}

/** Deletions of one actor in a minute of which the owner is told. */
const manyInMinute = 100;
/** Of which one process sees this many at least, where a few of them share the calls. */
const askedFrom = 20;
const minuteMs = 60_000;
const maxActors = 10_000;
const maxPending = 1000;
/** By then what was under way has committed. */
const afterMs = 1500;
/** Who goes on deleting is looked at all the same. */
const mostWaitMs = 10_000;
/** Entries of the log that are looked at, newest first. */
const lookedRows = 20_000;

type Project = NonNullable<SentDeletion['source']['project']>;
type Pending = Project & { actor: string | null; askedMs: number; lastMs: number };

const isAsked = (actor: string | null) => actor === null || /^(user|key|member):/.test(actor);

const countSql = `SELECT count(*)::int AS count, ${epochMsSql('min(changed_at)')} AS since_ms FROM (
    SELECT changes.kind, changes.actor, changes.changed_at FROM changes
    WHERE changes.project_id = $1 AND changes.slot = ANY ($2::int2[]) ORDER BY changes.xid DESC LIMIT ${lookedRows}) latest
  WHERE kind = 'd' AND actor IS NOT DISTINCT FROM $3 AND changed_at > $4::timestamptz`;

export const createDeletionNotices = ({
  database,
  outbox,
  now,
}: DeletionNoticesDeps): DeletionNotices => {
  const counts = new LRUCache<string, { count: number }>({
    max: maxActors,
    ttl: minuteMs,
    ttlResolution: 0,
    perf: { now },
  });
  const pending = new Map<string, Pending>();

  const look = async ({ number, actor, ...project }: Pending): Promise<void> => {
    const nowMs = now();
    const slots = [logSlot(nowMs - dayMs), logSlot(nowMs), logSlot(nowMs + dayMs)];
    const since = new Date(nowMs - minuteMs);
    const [found] = await database.query<{ count: number; since_ms: number | null }>(countSql, [
      number,
      slots,
      actor,
      since,
    ]);
    if (!found || found.count <= manyInMinute || found.since_ms === null) return;
    const { count, since_ms } = found;
    const day = toIso(nowMs).slice(0, 'yyyy-mm-dd'.length);
    await database.transaction(async () => {
      await database.query('DELETE FROM deletion_notices WHERE project_id = $1 AND day < $2', [
        number,
        day,
      ]);
      const noted = await database.query(
        'INSERT INTO deletion_notices (project_id, day) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING 1',
        [number, day],
      );
      if (noted.length === 0 || project.ownerId === null) return;
      await outbox.append('records.deleted', {
        projectId: project.id,
        projectNumber: number,
        projectName: project.name,
        ownerId: project.ownerId,
        actor: actor ?? 'visitor',
        count,
        since: toIso(since_ms),
      });
    });
  };

  return {
    note({ source: { actor, project }, count }) {
      if (!project?.ownerId || !isAsked(actor)) return;
      const name = `${project.number} ${actor}`;
      const counted = counts.get(name) ?? { count: 0 };
      if (counted.count === 0) counts.set(name, counted);
      counted.count += count;
      const known = pending.get(name);
      if (known) known.lastMs = now();
      if (counted.count < askedFrom || known || pending.size >= maxPending) return;
      const { id, number, name: projectName, ownerId } = project;
      pending.set(name, {
        id,
        number,
        name: projectName,
        ownerId,
        actor,
        askedMs: now(),
        lastMs: now(),
      });
    },

    async run() {
      for (const [name, one] of [...pending]) {
        const isOver = one.lastMs <= now() - afterMs || one.askedMs <= now() - mostWaitMs;
        if (!isOver) continue;
        pending.delete(name);
        await look(one);
      }
    },
  };
};
