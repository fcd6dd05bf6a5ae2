import { ApiError, type ProjectSettings, type Suspension } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import type { ProjectsConfig } from '../config.ts';
import type { Owners } from '../owners.ts';
import type { DB as Tables } from '../tables.ts';
import { claimExternalId } from './external-id.ts';
import { lockOwner, suspensionsOfNew } from './owner-lock.ts';
import { randomProjectId } from './project-id.ts';
import { type Project, type ProjectRow, projectColumns } from './project-row.ts';
import type { Projects } from './projects.ts';

export interface NewProject {
  ownerId: string;
  name: string;
  externalId?: string | undefined;
  settings?: ProjectSettings | undefined;
  /** Nobody knows it before its import has ended; at this time it is erased. */
  importingUntil?: Date;
  preview?: NewPreview | undefined;
  /** What is suspended of it from the beginning. */
  suspensions?: readonly Suspension[];
}

export interface NewPreview {
  /** The id of the project that it stands beside. */
  of: string;
  tokenHash: Buffer;
  /** Within the transaction that makes it. @throws ApiError where there may be no such preview */
  check(): Promise<void>;
}

export interface NewProjectsDeps {
  database: Database;
  projects: Pick<Projects, 'present' | 'publishChange'>;
  config: ProjectsConfig;
  owners: Pick<Owners, 'isVerified'>;
  /** Epoch milliseconds. */
  now: () => number;
  newId?: () => string;
}

export type NewProjects = ReturnType<typeof createNewProjects>;

const idTries = 5;
const maxUnverifiedProjects = 3;

export const createNewProjects = ({
  database,
  projects,
  config,
  owners,
  now,
  newId = randomProjectId,
}: NewProjectsDeps) => {
  const queries = createQueries<Tables>(database);

  /** Undefined where the id is taken. */
  const insert = async (
    id: string,
    { ownerId, name, externalId, settings = {}, ...project }: NewProject,
  ): Promise<ProjectRow | undefined> => {
    const { importingUntil, preview, suspensions = [] } = project;
    const at = new Date(now());
    const row = await queries
      .insertInto('projects')
      .values({
        id,
        name,
        external_id: externalId ?? null,
        owner_id: ownerId,
        settings: JSON.stringify(settings),
        suspensions: JSON.stringify(suspensions),
        created_at: at,
        updated_at: at,
        ...(importingUntil && { importing_until: importingUntil }),
        ...(preview && { preview_of: preview.of, preview_hash: preview.tokenHash }),
      })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning(projectColumns)
      .executeTakeFirst();
    if (row && !importingUntil) await projects.publishChange(row);
    return row;
  };

  /** Creations of one owner go one after the other, so that the bound holds under parallel calls. */
  const checkBound = async (ownerId: string, isVerified: boolean) => {
    const max = isVerified
      ? config.maxProjectsPerOwner
      : Math.min(maxUnverifiedProjects, config.maxProjectsPerOwner);
    await lockOwner(database, ownerId);
    const { count } = await queries
      .selectFrom('projects')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('owner_id', '=', ownerId)
      .executeTakeFirstOrThrow();
    if (count < max) return;
    throw new ApiError(
      'project_limit',
      isVerified
        ? `An owner may have at most ${max} projects.`
        : `An owner may have at most ${max} projects until their e-mail address is verified.`,
      {
        hint: isVerified
          ? 'Deleted projects count until they can no longer be restored.'
          : 'Follow the link in the mail that came when you signed up.',
      },
    );
  };

  return {
    insert,

    /**
     * Looks the owner up, outside of any transaction; what it answers creates the project.
     * @throws ApiError project_limit, conflict, unavailable
     */
    async prepare(project: NewProject): Promise<() => Promise<Project>> {
      const isVerified = await owners.isVerified(project.ownerId);
      const create = async () => {
        await checkBound(project.ownerId, isVerified);
        const { ownerId, externalId } = project;
        if (externalId !== undefined) await claimExternalId(database, { ownerId, externalId });
        const suspensions = await suspensionsOfNew(database, project.ownerId, project.preview?.of);
        await project.preview?.check();
        for (let tries = 0; tries < idTries; tries++) {
          const row = await insert(newId(), { ...project, suspensions });
          if (row) return projects.present(row, 'owner');
        }
        throw new Error(`No free project id in ${idTries} tries.`);
      };
      return () => database.transaction(create);
    },
  };
};
