import { events, type ProjectDirectory, type ProjectSnapshot } from '@backlot/contract';
import type { Database } from '@backlot/database';

const batchSize = 1000;
/** Of asking again, where the project is changed meanwhile. */
const tries = 5;

type Status = ProjectSnapshot['status'] | undefined;

export interface HeldProjectsDeps {
  database: Database;
  projects: ProjectDirectory;
}

export type HeldProjects = ReturnType<typeof createHeldProjects>;

/** Projects whose mails wait while they are paused, or go nowhere because they are deleted. */
export const createHeldProjects = ({ database, projects }: HeldProjectsDeps) => {
  const keep = (projectNumber: number, status: Status) =>
    database.query(
      status === 'paused' || status === 'deleted'
        ? 'INSERT INTO held_projects (project_number) VALUES ($1) ON CONFLICT DO NOTHING'
        : 'DELETE FROM held_projects WHERE project_number = $1',
      [projectNumber],
    );

  /** What one worker has in its hands goes on. */
  const giveUpMails = async (projectNumber: number) => {
    let given: unknown[];
    do {
      given = await database.query(
        `UPDATE mails SET status = 'failed', error = 'The project was deleted.',
                html = CASE WHEN is_secret THEN '' ELSE html END,
                plain_text = CASE WHEN is_secret THEN '' ELSE plain_text END
          WHERE project_number = $1 AND id = ANY (ARRAY(
            SELECT id FROM mails WHERE project_number = $1 AND status = 'queued'
             LIMIT ${batchSize} FOR UPDATE SKIP LOCKED)) RETURNING true`,
        [projectNumber],
      );
    } while (given.length === batchSize);
  };

  return {
    /**
     * The event does not say what has changed, and two may be handled at once: what was stored is
     * compared with the project afterwards, so that an older answer never stays.
     * @throws ZodError where the payload is none of `project.changed`
     */
    async changed(payload: unknown): Promise<void> {
      const { projectId, projectNumber } = events['project.changed'].parse(payload);
      const statusNow = async () => (await projects.findProject(projectId))?.status;
      let status = await statusNow();
      for (let each = 0; each < tries; each++) {
        await keep(projectNumber, status);
        if (status === 'deleted') await giveUpMails(projectNumber);
        const later = await statusNow();
        if (later === status) return;
        status = later;
      }
      throw new Error('The project changes faster than it can be looked up.');
    },
  };
};
