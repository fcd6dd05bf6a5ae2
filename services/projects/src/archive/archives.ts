import type { ArchiveDirectory, EventPayloads, FileArchiveDirectory } from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import { outsideCalls } from '@backlot/fair-shares';
import type { Parts } from '../project-file/carry-out.ts';
import type { ProjectFile } from '../project-file/project-file.ts';
import type { NewProjects } from '../projects/new-projects.ts';
import type { Projects } from '../projects/projects.ts';
import { createExportProject } from './export-project.ts';
import { createFillConfig } from './fill-config.ts';
import { createImportProject } from './import-project.ts';
import { createImports } from './imports.ts';

/** Archives that are written or read at once: each holds a page of lines, or a piece of a file. */
const places = { places: 12, perOwner: 2, maxWaiting: 100 };
/** What a killed process has left is looked for so often. */
const sweepMs = 5000;

/** What others keep of what an archive of a project has. */
export interface ArchiveDirectories {
  usersArchive: ArchiveDirectory;
  recordsArchive: ArchiveDirectory;
  filesArchive: FileArchiveDirectory;
}

export interface ArchivesDeps extends ArchiveDirectories {
  database: Database;
  outbox: Outbox<EventPayloads>;
  projects: Projects;
  newProjects: NewProjects;
  projectFile: Pick<ProjectFile, 'read'>;
  /** Who keeps what of a config. */
  configParts: Parts;
  now: () => number;
}

export type Archives = ReturnType<typeof createArchives>;

/** Projects as archives, and projects made of them. */
export const createArchives = (deps: ArchivesDeps) => {
  const { usersArchive: users, recordsArchive: records, filesArchive: files } = deps;
  const parts = { users, records, files };
  const imports = createImports(deps);
  const shares = outsideCalls(places);
  const fillConfig = createFillConfig(deps.configParts);
  return {
    exportProject: createExportProject({ ...deps, parts }),
    importProject: createImportProject({ imports, parts, fillConfig }),
    /** A place for each archive that is read or written. */
    shares,
    sweep: imports.sweep,
    sweeps: [{ run: imports.sweep, everyMs: sweepMs }],
  };
};
