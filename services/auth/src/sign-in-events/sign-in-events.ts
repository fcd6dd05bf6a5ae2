import type { EventPayloads, SignInEventKind } from '@backlot/contract';
import { createQueries, type Database, type Outbox } from '@backlot/database';
import { type Page, type PageQuery, presentPage, readPosition } from '@backlot/http';
import type { Selectable } from 'kysely';
import { uuidv7 } from 'uuidv7';
import type { SignInEvent as Row, DB as Tables } from '../tables.ts';
import { createDevices } from './devices.ts';
import { createFailures, maxFailures } from './failures.ts';
import { createNotices } from './notices.ts';
import { type EventCaller, toPlace } from './place.ts';

export interface SignInEvent {
  kind: SignInEventKind;
  /** How, or of what: `password`, `google`, the name of a passkey. Never a secret. */
  detail?: string | undefined;
}

/** Whoever signs in often, or fails to, pushes no change out of the log. */
const often: SignInEventKind[] = ['signed_in', 'signed_out'];
const maxOfGroup = 150;
/** Of one user. */
export const mostSignInEvents = 2 * maxOfGroup + maxFailures;
const maxDetail = 100;

const present = (row: Omit<Selectable<Row>, 'project_number' | 'user_id'>) => ({
  id: row.id,
  kind: row.kind as SignInEventKind,
  detail: row.detail,
  device: row.device,
  network: row.network,
  times: row.times,
  createdAt: row.created_at.toISOString(),
  lastAt: row.last_at.toISOString(),
});

export const createSignInEvents = ({
  database,
  outbox,
  now,
}: {
  database: Database;
  outbox: Outbox<EventPayloads>;
  now: () => number;
}) => {
  const devices = createDevices(database, now);
  const notices = createNotices(outbox, now);
  const queries = createQueries<Tables>(database);
  const failures = createFailures(database);

  return {
    /**
     * Belongs into the transaction of what happened, and tells the user by mail where that is to be known. A failed attempt is only noted, for `writeFailures`: its
     * answer takes as long as that for an account that is not there.
     */
    async add(caller: EventCaller, userId: string, event: SignInEvent) {
      const { kind } = event;
      const detail = event.detail?.slice(0, maxDetail) ?? null;
      const { project } = caller;
      const from = { detail, ...toPlace(caller) };
      if (kind === 'failed')
        return failures.note({ projectNumber: project.number, userId, at: now(), ...from });
      const isOften = often.includes(kind);
      const [user] = await database.named<{
        email: string | null;
        name: string | null;
        email_verified: boolean;
      }>(
        'add_sign_in_event',
        `WITH account AS (
           SELECT id, email, name, email_verified FROM users WHERE project_number = $1 AND id = $2 FOR NO KEY UPDATE
         ), added AS (
           INSERT INTO sign_in_events (project_number, user_id, id, kind, detail, device, network, created_at, last_at)
           SELECT $1, id, $3, $4, $5, $6, $7, $8, $8 FROM account
         ), forgotten AS (
           DELETE FROM sign_in_events WHERE project_number = $1 AND user_id = $2 AND id IN (
           SELECT e.id FROM sign_in_events e JOIN account ON account.id = e.user_id
            WHERE e.project_number = $1 AND e.user_id = $2 AND e.kind <> 'failed' AND (e.kind = ANY ($9::text[])) = $10
            ORDER BY e.id DESC OFFSET $11)
         )
         SELECT email, name, email_verified FROM account`,
        [
          project.number,
          userId,
          uuidv7(),
          kind,
          detail,
          from.device,
          from.network,
          new Date(now()),
          often,
          isOften,
          maxOfGroup - 1,
        ],
      );
      if (!user) return;
      const isNewDevice = kind === 'signed_in' && (await devices.isNew(caller, userId));
      const { email, name } = user;
      if (email === null || !user.email_verified) return;
      await notices.request(caller, { email, name }, { kind, detail, isNewDevice });
    },

    /** What was noted since the last time. */
    writeFailures: failures.write,

    /** Newest first. @throws ApiError invalid_cursor */
    async list(
      project: number,
      userId: string,
      query: PageQuery,
    ): Promise<Page<ReturnType<typeof present>>> {
      const list = `sign-in-events ${userId}`;
      const before = readPosition(list, query.cursor);
      if (query.limit === 0) return { items: [], hasMore: false, nextCursor: null };
      let events = queries
        .selectFrom('sign_in_events')
        .selectAll()
        .where('project_number', '=', project)
        .where('user_id', '=', userId)
        .orderBy('id', 'desc')
        .limit(query.limit + 1);
      if (before) events = events.where('id', '<', before.id);
      return presentPage(list, query, await events.execute(), present);
    },
  };
};

export type SignInEvents = ReturnType<typeof createSignInEvents>;
