import {
  ApiError,
  type EventPayloads,
  platformProject,
  type Suspendable,
  type Suspension,
} from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import { noteAct, type Page, type PageQuery, type Position, readPage } from '@backlot/http';
import { uuidv7 } from 'uuidv7';
import { lockOwner } from '../projects/owner-lock.ts';
import { projectNotFound } from '../projects/scope.ts';

export interface SuspensionsDeps {
  database: Database;
  outbox: Outbox<EventPayloads>;
  /** Epoch milliseconds. */
  now: () => number;
}

export type Suspensions = ReturnType<typeof createSuspensions>;

type Target = { projectNumber: number } | { ownerId: string };

interface ListedSuspension extends Suspension {
  id: string;
  projectId: string | null;
  ownerId: string | null;
}

interface Row {
  id: string;
  project_id: string | null;
  owner_id: string | null;
  capability: Suspendable;
  reason: string;
  created_at: Date;
}

const presentOne = ({
  owner_id: ownerId,
  capability,
  reason,
  created_at: at,
}: Row): Suspension => ({
  of: ownerId === null ? 'project' : 'owner',
  capability,
  reason,
  since: at.toISOString(),
});

/** For each project that it is about: what holds for it, in one value. */
const spreadSql = `UPDATE projects SET updated_at = $3, suspensions = coalesce((
    SELECT jsonb_agg(jsonb_build_object(
        'of', CASE WHEN s.owner_id IS NULL THEN 'project' ELSE 'owner' END, 'capability', s.capability, 'reason', s.reason,
        'since', to_char(s.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) ORDER BY s.created_at, s.id)
      FROM suspensions s
     WHERE s.owner_id = projects.owner_id OR s.project_number = projects.number
        OR s.project_number = (SELECT number FROM projects original WHERE original.id = projects.preview_of)), '[]')
  WHERE number = $1 OR owner_id = $2 OR preview_of = (SELECT id FROM projects original WHERE original.number = $1)
  RETURNING number, id`;

/** What the operator has suspended; nothing that an owner does changes it. */
export const createSuspensions = ({ database, outbox, now }: SuspensionsDeps) => {
  const keysOf = (target: Target): [number | null, string | null] =>
    'ownerId' in target ? [null, target.ownerId] : [target.projectNumber, null];

  const read = async (target: Target): Promise<Suspension[]> => {
    const rows = await database.query<Row>(
      `SELECT id, NULL AS project_id, owner_id, capability, reason, created_at FROM suspensions
        WHERE project_number = $1 OR owner_id = $2 ORDER BY created_at, id`,
      keysOf(target),
    );
    return rows.map(presentOne);
  };

  const spread = async (target: Target) => {
    const changed = await database.query<{ number: number; id: string }>(spreadSql, [
      ...keysOf(target),
      new Date(now()),
    ]);
    for (const { number, id } of changed)
      await outbox.append('project.changed', { projectId: id, projectNumber: number });
  };

  /** One after the other, and none while a project of the owner is made. @throws ApiError project_not_found */
  const lock = async (target: Target) => {
    if ('ownerId' in target) return lockOwner(database, target.ownerId);
    const [row] = await database.query<{ owner_id: string | null }>(
      'SELECT owner_id FROM projects WHERE number = $1 AND importing_until IS NULL',
      [target.projectNumber],
    );
    if (!row) throw projectNotFound();
    await lockOwner(database, row.owner_id ?? `project ${target.projectNumber}`);
  };

  const change = (target: Target, write: () => Promise<void>): Promise<Suspension[]> =>
    database.transaction(async () => {
      await lock(target);
      const before = await read(target);
      await write();
      await spread(target);
      const after = await read(target);
      await noteAct({ before: { suspensions: before }, after: { suspensions: after } });
      return after;
    });

  const readList = (ownerId: string | null, after: Position | undefined, count: number) =>
    database.query<Row>(
      `SELECT suspensions.id, projects.id AS project_id, suspensions.owner_id, capability, reason, suspensions.created_at
         FROM suspensions LEFT JOIN projects ON number = project_number
        WHERE ($1::uuid IS NULL OR suspensions.owner_id = $1 OR projects.owner_id = $1)
          AND ($2::timestamptz IS NULL OR (suspensions.created_at, suspensions.id) < ($2, $3::uuid))
        ORDER BY suspensions.created_at DESC, suspensions.id DESC LIMIT $4`,
      [ownerId, after?.createdAt ?? null, after?.id ?? null, count],
    );

  return {
    /** Again with another reason changes the reason. @throws ApiError project_not_found, forbidden */
    suspend(target: Target, capability: Suspendable, reason: string): Promise<Suspension[]> {
      const [projectNumber, ownerId] = keysOf(target);
      if (projectNumber === platformProject.number)
        throw new ApiError('forbidden', 'The built-in project can not be suspended.');
      const unique = ownerId === null ? 'project_number' : 'owner_id';
      return change(target, async () => {
        await database.query(
          `INSERT INTO suspensions (id, project_number, owner_id, capability, reason, created_at)
           VALUES ($1, $2, $3, $4, $5, $6)
           ON CONFLICT (${unique}, capability) WHERE ${unique} IS NOT NULL DO UPDATE SET reason = excluded.reason`,
          [uuidv7(), projectNumber, ownerId, capability, reason, new Date(now())],
        );
      });
    },

    /** @throws ApiError not_found where nothing such is suspended */
    lift(target: Target, capability: Suspendable): Promise<Suspension[]> {
      return change(target, async () => {
        const { rowCount } = await database.execute(
          'DELETE FROM suspensions WHERE (project_number = $1 OR owner_id = $2) AND capability = $3',
          [...keysOf(target), capability],
        );
        if (rowCount === 0) throw new ApiError('not_found', 'This is not suspended.');
      });
    },

    /** @param ownerId of one owner and their projects; null: all */
    list: (ownerId: string | null, query: PageQuery): Promise<Page<ListedSuspension>> =>
      readPage(
        'suspensions',
        query,
        (after, count) => readList(ownerId, after, count),
        (row) => ({
          ...presentOne(row),
          id: row.id,
          projectId: row.project_id,
          ownerId: row.owner_id,
        }),
      ),
  };
};
