import { ApiError } from '@backlot/contract';

/** How many scans of one project run at once; the rest of the pool is for everybody else. */
const perProject = 3;
/** How many more of one project may wait. */
const maxWaiting = 100;

export interface ScanSlots {
  /** Runs the scan when its project has a slot. @throws ApiError overloaded */
  run<T>(projectNumber: number, scan: () => Promise<T>): Promise<T>;
}

interface Project {
  running: number;
  waiting: (() => void)[];
}

/** Keeps the slow reads of one project from taking all connections. */
export const createScanSlots = (): ScanSlots => {
  const projects = new Map<number, Project>();

  const take = async (project: Project): Promise<void> => {
    if (project.running < perProject) {
      project.running += 1;
      return;
    }
    if (project.waiting.length >= maxWaiting) {
      throw new ApiError('overloaded', 'Too many slow lists and counts of this project at once.', {
        retryAfterSeconds: 1,
      });
    }
    await new Promise<void>((resolve) => project.waiting.push(resolve));
  };

  /** Hands the slot to the next in line, if there is one. */
  const give = (projectNumber: number, project: Project): void => {
    const next = project.waiting.shift();
    if (next) {
      next();
      return;
    }
    project.running -= 1;
    if (project.running === 0) projects.delete(projectNumber);
  };

  return {
    async run(projectNumber, scan) {
      const project = projects.get(projectNumber) ?? { running: 0, waiting: [] };
      projects.set(projectNumber, project);
      await take(project);
      try {
        return await scan();
      } finally {
        give(projectNumber, project);
      }
    },
  };
};
