import type { Database } from '@backlot/database';

interface Stop {
  since: string;
  reason: string | null;
}

export interface SendingState {
  stopped: Stop | null;
  visitorsStopped: Stop | null;
  waiting: number;
}

interface Row {
  stopped_at: Date | null;
  reason: string | null;
  visitors_stopped_at: Date | null;
  visitors_reason: string | null;
  waiting: number;
}

const presentStop = (at: Date | null, reason: string | null): Stop | null =>
  at && { since: at.toISOString(), reason };

export type SendingStates = ReturnType<typeof createSendingStates>;

/** Whether projects may send, and what waits in their queues. */
export const createSendingStates = (database: Database, maxWaitingPerProject: number) => ({
  async read(projectNumber: number): Promise<SendingState> {
    const [row] = await database.query<Row>(
      `SELECT stop.stopped_at, stop.reason, visitors.stopped_at AS visitors_stopped_at,
              visitors.reason AS visitors_reason,
              (SELECT count(*)::int FROM (SELECT FROM mails
                 WHERE project_number = $1 AND status = 'queued' LIMIT $2) AS queued) AS waiting
         FROM (VALUES (1)) AS one
         LEFT JOIN sending_stops AS stop ON stop.project_number = $1 AND stop.resumed_at IS NULL
         LEFT JOIN visitor_stops AS visitors
           ON visitors.project_number = $1 AND visitors.resumed_at IS NULL`,
      [projectNumber, maxWaitingPerProject],
    );
    return {
      stopped: row ? presentStop(row.stopped_at, row.reason) : null,
      visitorsStopped: row ? presentStop(row.visitors_stopped_at, row.visitors_reason) : null,
      waiting: row?.waiting ?? 0,
    };
  },
});
