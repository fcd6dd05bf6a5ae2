import { ApiError, type ConfigChange } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import { uuidv7 } from 'uuidv7';

/** A file that is being applied, in the hands of one worker. */
export interface Application {
  id: string;
  worker: string;
  project: { id: string; number: number; ownerId: string | null };
  state: 'planning' | 'applying' | 'undoing';
  changes: readonly ConfigChange[];
  /** The part that it is at. */
  reached: number;
  reason: string | null;
  /** Epoch milliseconds. */
  startedAt: number;
}

/** Longer than any call to a part: nobody else takes it meanwhile. */
const leaseMs = 30_000;
/** Of a project, that have ended. */
export const kept = 20;
const maxWords = 100;
const takenAtOnce = 10;

/** Somebody else has taken it. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

interface Row {
  id: string;
  state: Application['state'];
  changes: ConfigChange[];
  reached: number;
  reason: string | null;
  started_at: Date;
  project_number: number;
  project_id: string;
  owner_id: string | null;
}

export type Applications = ReturnType<typeof createApplications>;

/** Which files are being applied: a row each, which outlives the process that works on it. */
export const createApplications = (database: Database, now: () => number) => {
  const leaseEnd = () => new Date(now() + leaseMs);

  /** @throws LeaseLost */
  const update = async ({ id, worker }: Application, set: string, values: readonly unknown[]) => {
    const { rowCount } = await database.execute(
      `UPDATE config_applications SET ${set} WHERE id = $1 AND worker = $2 AND ended_at IS NULL`,
      [id, worker, ...values],
    );
    if (rowCount === 0) throw new LeaseLost('Another process goes on with it.');
  };

  const findOpen = async (projectNumber: number) => {
    const [open] = await database.query<{ started_at: Date }>(
      `SELECT started_at FROM config_applications
       WHERE project_number = $1 AND ended_at IS NULL
         AND NOT (state = 'planning' AND lease_ends_at < $2)`,
      [projectNumber, new Date(now())],
    );
    return open;
  };

  /** @throws ApiError conflict while a file is being applied */
  const checkIdle = async (projectNumber: number): Promise<void> => {
    const open = await findOpen(projectNumber);
    if (!open) return;
    const since = open.started_at.toISOString();
    throw new ApiError('conflict', `A file is being applied to this project since ${since}.`, {
      hint: 'Try again shortly; GET …/config/applications tells how far it is.',
      retryAfterSeconds: 2,
    });
  };

  return {
    checkIdle,

    /** Nobody else applies a file to the project until it has ended. @throws ApiError conflict */
    async claim({ project, caller, userId, keyId }: Identity): Promise<Application> {
      const { id: projectId, number, ownerId } = project;
      const [id, worker, startedAt] = [uuidv7(), uuidv7(), now()];
      await database.query(
        `DELETE FROM config_applications
         WHERE project_number = $1 AND state = 'planning' AND lease_ends_at < $2`,
        [number, new Date(startedAt)],
      );
      const rows = await database.query(
        `INSERT INTO config_applications (id, project_number, caller, caller_id, worker, lease_ends_at, started_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (project_number) WHERE ended_at IS NULL DO NOTHING RETURNING id`,
        [id, number, caller, keyId ?? userId, worker, leaseEnd(), new Date(startedAt)],
      );
      if (rows.length === 0) {
        await checkIdle(number);
        throw new ApiError('conflict', 'A file is being applied to this project.');
      }
      return {
        id,
        worker,
        project: { id: projectId, number, ownerId },
        state: 'planning',
        changes: [],
        reached: 0,
        reason: null,
        startedAt,
      };
    },

    /** Of one that has changed nothing yet. */
    async drop({ id, worker }: Application): Promise<void> {
      await database.query(
        `DELETE FROM config_applications WHERE id = $1 AND worker = $2 AND state = 'planning'`,
        [id, worker],
      );
    },

    /**
     * From here on it is done to its end, or undone.
     * @param note stores with it that it began
     * @throws LeaseLost
     */
    async begin(
      application: Application,
      changes: readonly ConfigChange[],
      words: readonly string[],
      note: () => Promise<void>,
    ): Promise<Application> {
      await database.transaction(async () => {
        await update(
          application,
          "state = 'applying', changes = $3, words = $4, lease_ends_at = $5",
          [JSON.stringify(changes), JSON.stringify(words.slice(0, maxWords)), leaseEnd()],
        );
        await note();
      });
      return { ...application, state: 'applying', changes };
    },

    /** @throws LeaseLost */
    reach: (application: Application, part: number) =>
      update(application, 'reached = $3, lease_ends_at = $4', [part, leaseEnd()]),

    /** What was done before this part is undone. @throws LeaseLost */
    turnBack: (application: Application, part: number, reason: string) =>
      update(application, "state = 'undoing', reached = $3, reason = $4, lease_ends_at = $5", [
        part,
        reason,
        leaseEnd(),
      ]),

    /** @throws LeaseLost */
    async end(
      application: Application,
      state: 'done' | 'undone' | 'failed',
      reason?: string,
    ): Promise<void> {
      await update(
        application,
        `state = $3, reason = coalesce($4, reason), ended_at = $5, changes = '[]'`,
        [state, reason ?? null, new Date(now())],
      );
      await database.query(
        `DELETE FROM config_applications WHERE project_number = $1 AND id IN (
           SELECT id FROM config_applications WHERE project_number = $1 AND ended_at IS NOT NULL
           ORDER BY started_at DESC, id DESC OFFSET ${kept})`,
        [application.project.number],
      );
    },

    /** Somebody else may go on with it at once. */
    async letGo({ id, worker }: Application): Promise<void> {
      await database.query(
        'UPDATE config_applications SET lease_ends_at = $3 WHERE id = $1 AND worker = $2',
        [id, worker, new Date(now())],
      );
    },

    /** Those whose worker is gone. */
    async takeAbandoned(): Promise<Application[]> {
      const worker = uuidv7();
      const rows = await database.query<Row>(
        `UPDATE config_applications SET worker = $1, lease_ends_at = $2 FROM projects
         WHERE projects.number = project_number AND config_applications.id IN (
           SELECT id FROM config_applications
           WHERE ended_at IS NULL AND lease_ends_at <= $3
           ORDER BY lease_ends_at LIMIT ${takenAtOnce} FOR UPDATE SKIP LOCKED)
         RETURNING config_applications.id, state, changes, reached, reason, started_at, project_number,
           projects.id AS project_id, projects.owner_id`,
        [worker, leaseEnd(), new Date(now())],
      );
      return rows.map((row) => ({
        id: row.id,
        worker,
        project: { id: row.project_id, number: row.project_number, ownerId: row.owner_id },
        state: row.state,
        changes: row.changes,
        reached: row.reached,
        reason: row.reason,
        startedAt: row.started_at.getTime(),
      }));
    },
  };
};
