import { ApiError, type EventPayloads } from '@backlot/contract';
import { type Database, type Outbox, violatedConstraint } from '@backlot/database';
import { noteAct } from '@backlot/http';
import type { NewPreview, NewProjects } from '../projects/new-projects.ts';
import type { Project } from '../projects/project-row.ts';
import type { Projects } from '../projects/projects.ts';

/** A project that nobody knows yet, in the hands of this process. */
export interface Importing {
  id: string;
  number: number;
  ownerId: string;
}

const leaseMs = 60_000;
const renewMs = 15_000;
/** Calls to other services that a killed process has left have ended by then. */
const graceMs = 45_000;
const erasedAtOnce = 20;

const tookTooLong = (cause?: unknown) =>
  new ApiError('unavailable', 'It took too long. No project was made. Try again.', { cause });

/** What it becomes. */
export interface WantedProject {
  ownerId: string;
  name: string;
  preview?: NewPreview | undefined;
}

export interface ImportsDeps {
  database: Database;
  outbox: Outbox<EventPayloads>;
  projects: Projects;
  newProjects: Pick<NewProjects, 'prepare'>;
  now: () => number;
}

export type Imports = ReturnType<typeof createImports>;

/** Projects whose archives are being read: whole in the end, or erased, whatever becomes of the process. */
export const createImports = ({ database, outbox, projects, newProjects, now }: ImportsDeps) => {
  const leaseEnd = () => new Date(now() + leaseMs);

  const erase = (condition: string, values: readonly unknown[]) =>
    database.transaction(async () => {
      const rows = await database.query<{ id: string; number: number }>(
        `DELETE FROM projects WHERE number IN (
           SELECT number FROM projects WHERE importing_until IS NOT NULL AND ${condition}
           LIMIT ${erasedAtOnce} FOR UPDATE SKIP LOCKED)
         RETURNING id, number`,
        values,
      );
      for (const { id, number } of rows)
        await outbox.append('project.erased', { projectId: id, projectNumber: number });
      return rows.length;
    });

  const begin = async (wanted: WantedProject): Promise<Importing> => {
    const create = await newProjects.prepare({ ...wanted, importingUntil: leaseEnd() });
    const { id } = await create().catch((error: unknown) => {
      if (violatedConstraint(error) !== 'projects_importing') throw error;
      throw new ApiError('conflict', 'Another project of this owner is being made just now.', {
        hint: 'One at a time; what was broken off is erased within two minutes.',
        retryAfterSeconds: 30,
      });
    });
    const [row] = await database.query<{ number: number }>(
      'SELECT number FROM projects WHERE id = $1',
      [id],
    );
    if (!row) throw new Error(`The project "${id}" was erased while it was made.`);
    return { id, number: row.number, ownerId: wanted.ownerId };
  };

  /** False where it was erased meanwhile. */
  const renew = async ({ number }: Importing): Promise<boolean> => {
    const { rowCount } = await database.execute(
      'UPDATE projects SET importing_until = $2 WHERE number = $1 AND importing_until > $3',
      [number, leaseEnd(), new Date(now())],
    );
    return rowCount === 1;
  };

  const finish = ({ number, id, ownerId }: Importing): Promise<Project> =>
    database.transaction(async () => {
      const { rowCount } = await database.execute(
        `UPDATE projects SET importing_until = NULL
         WHERE number = $1 AND importing_until > $2 AND deleted_at IS NULL`,
        [number, new Date(now())],
      );
      if (rowCount === 0) throw tookTooLong();
      await projects.publishChange({ id, number });
      const project = await projects.get({
        projectNumber: number,
        ownerId,
        anyOwner: false,
        role: 'owner',
      });
      await noteAct({ after: project });
      return project;
    });

  return {
    /**
     * Makes a project by work that fills it. Where that fails there is none.
     * @param work until `signal` is aborted: it was erased, or its caller has gone
     * @throws ApiError project_limit, conflict, unavailable; what `work` throws
     */
    async run<T>(
      { signal, ...wanted }: WantedProject & { signal: AbortSignal },
      work: (importing: Importing, signal: AbortSignal) => Promise<T>,
    ): Promise<{ project: Project; done: T }> {
      const importing = await begin(wanted);
      const lost = new AbortController();
      const timer = setInterval(() => {
        renew(importing).then(
          (isMine) => isMine || lost.abort(new Error('The project was erased meanwhile.')),
          () => {},
        );
      }, renewMs).unref();
      try {
        const done = await work(importing, AbortSignal.any([signal, lost.signal]));
        signal.throwIfAborted();
        return { project: await finish(importing), done };
      } catch (error) {
        const isMine = (await erase('number = $1', [importing.number])) > 0;
        throw isMine ? error : tookTooLong(error);
      } finally {
        clearInterval(timer);
      }
    },

    /** Erases what killed processes have left; also runs every few seconds. */
    async sweep(): Promise<void> {
      let erased = erasedAtOnce;
      while (erased === erasedAtOnce)
        erased = await erase('importing_until <= $1', [new Date(now() - graceMs)]);
    },
  };
};
