import type { Payload, ProjectDirectory } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import type { DB as Tables } from '../tables.ts';

const batchSize = 1000;
/** Look-ups, if the project keeps changing. */
const maxLookups = 5;

export interface ProjectHoldsDeps {
  database: Database;
  projects: ProjectDirectory;
}

/** Holds back the mails of paused projects, and fails those of deleted ones. */
export const createProjectHolds = ({ database, projects }: ProjectHoldsDeps) => {
  const queries = createQueries<Tables>(database);
  const hold = (projectNumber: number) =>
    queries
      .insertInto('held_projects')
      .values({ project_number: projectNumber })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  const release = (projectNumber: number) =>
    queries.deleteFrom('held_projects').where('project_number', '=', projectNumber).execute();

  /** Mails that a worker has claimed are not affected. */
  const failQueuedMails = async (projectNumber: number) => {
    let failed: unknown[];
    do {
      failed = await database.query(
        `UPDATE mails SET status = 'failed', error = 'The project was deleted.',
                html = CASE WHEN is_secret THEN '' ELSE html END,
                plain_text = CASE WHEN is_secret THEN '' ELSE plain_text END
          WHERE project_number = $1 AND id = ANY (ARRAY(
            SELECT id FROM mails WHERE project_number = $1 AND status = 'queued'
             LIMIT ${batchSize} FOR UPDATE SKIP LOCKED)) RETURNING true`,
        [projectNumber],
      );
    } while (failed.length === batchSize);
  };

  return {
    /**
     * The event does not say what has changed, and two events may be handled at the same time: the stored
     * status is compared with the project again, so that an outdated one never stays.
     */
    async update({ projectId, projectNumber }: Payload<'project.changed'>): Promise<void> {
      const statusNow = async () => {
        const found = await projects.findProject(projectId);
        return found?.status === 'active' && found.suspended?.includes('mail')
          ? 'paused'
          : found?.status;
      };
      let status = await statusNow();
      for (let lookups = 0; lookups < maxLookups; lookups++) {
        const isHeld = status === 'paused' || status === 'deleted';
        await (isHeld ? hold(projectNumber) : release(projectNumber));
        if (status === 'deleted') await failQueuedMails(projectNumber);
        const later = await statusNow();
        if (later === status) return;
        status = later;
      }
      throw new Error('The project keeps changing while it is looked up.');
    },
  };
};
