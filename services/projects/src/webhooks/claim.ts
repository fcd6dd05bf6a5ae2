import type { Database } from '@backlot/database';
import { uuidv7 } from 'uuidv7';
import type { SealedSecrets } from './secrets.ts';

/** Longer than a turn takes, so that a killed process delays nothing for long. */
const leaseMs = 40_000;
/** Webhooks that are due and looked at to choose among. */
const maxDue = 10_000;

/** A webhook in the hands of one worker. */
export interface LeasedWebhook extends SealedSecrets {
  projectId: string;
  ownerId: string | null;
  url: string;
  worker: string;
}

export interface ClaimOptions {
  isSlow: boolean;
  limit: number;
  /** Webhooks of one owner that are told at once, in all processes. */
  perOwner: number;
}

interface ClaimedRow {
  project_number: number;
  name: string;
  url: string;
  sealed_secret: Buffer;
  sealed_previous: Buffer | null;
  project_id: string;
  owner_id: string | null;
}

/** Those of owners who have few under way come first. */
export const createClaim =
  (database: Database, now: () => number) =>
  async ({ isSlow, limit, perOwner }: ClaimOptions): Promise<LeasedWebhook[]> => {
    const worker = uuidv7();
    const at = now();
    const rows = await database.query<ClaimedRow>(
      `/* across projects */
         WITH busy AS (
           SELECT owner_id, count(*) AS hooks FROM webhooks JOIN projects ON number = project_number
            WHERE lease_ends_at > $1 AND is_slow = $3 GROUP BY owner_id),
         due AS (
           SELECT project_number, webhooks.name, due_at, owner_id FROM webhooks JOIN projects ON number = project_number
            WHERE is_slow = $3 AND due_at <= $1 AND off_reason IS NULL
              AND (lease_ends_at IS NULL OR lease_ends_at <= $1) AND deleted_at IS NULL AND status = 'active'
              AND NOT suspensions @> '[{"capability": "all"}]'
            ORDER BY due_at LIMIT ${maxDue}),
         turns AS (
           SELECT due.*, coalesce(busy.hooks, 0)
             + row_number() OVER (PARTITION BY due.owner_id ORDER BY due_at, project_number, name) AS turn
             FROM due LEFT JOIN busy ON busy.owner_id IS NOT DISTINCT FROM due.owner_id)
         UPDATE webhooks SET worker = $4, lease_ends_at = $2
           FROM (SELECT project_number, name FROM turns WHERE turn <= $6 ORDER BY turn, due_at LIMIT $5) AS chosen
           JOIN projects ON projects.number = chosen.project_number
          WHERE webhooks.project_number = chosen.project_number AND webhooks.name = chosen.name
            AND (lease_ends_at IS NULL OR lease_ends_at <= $1)
         RETURNING webhooks.project_number, webhooks.name, url, sealed_secret,
           CASE WHEN previous_until > $1 THEN sealed_previous END AS sealed_previous,
           projects.id AS project_id, projects.owner_id`,
      [new Date(at), new Date(at + leaseMs), isSlow, worker, limit, perOwner],
    );
    return rows.map((row) => ({
      projectNumber: row.project_number,
      name: row.name,
      projectId: row.project_id,
      ownerId: row.owner_id,
      url: row.url,
      sealedSecret: row.sealed_secret,
      sealedPrevious: row.sealed_previous,
      worker,
    }));
  };
