import type { EventPayloads } from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import type { TellWants } from './wants.ts';

export type Stop = ReturnType<typeof createStop>;

/** Nothing is told from now on, and its owner learns why. In a transaction of its own or a surrounding one. */
export const createStop =
  (database: Database, outbox: Outbox<EventPayloads>, tellWants: TellWants, now: () => number) =>
  (projectNumber: number, name: string, reason: string): Promise<void> =>
    database.transaction(async () => {
      const [stopped] = await database.query<{
        id: string;
        project_name: string;
        owner_id: string | null;
        url: string;
      }>(
        `UPDATE webhooks SET off_reason = $3, updated_at = $4 FROM projects
            WHERE number = $1 AND project_number = $1 AND webhooks.name = $2 AND off_reason IS NULL
           RETURNING projects.id, projects.name AS project_name, projects.owner_id, url`,
        [projectNumber, name, reason, new Date(now())],
      );
      if (!stopped) return;
      const { id: projectId, project_name: projectName, owner_id: ownerId, url } = stopped;
      await tellWants(projectId, projectNumber);
      if (ownerId === null) return;
      const about = { projectId, projectNumber, projectName, ownerId };
      const { host } = new URL(url);
      await outbox.append('webhook.stopped', { ...about, webhook: name, host, reason });
    });
