import {
  ApiError,
  type ConfigApplication,
  type ConfigChange,
  type ConfigPlan,
  type ProjectConfig,
} from '@backlot/contract';
import { noteAct } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import type { Logger } from '@backlot/telemetry';
import type { Projects } from '../projects/projects.ts';
import { toScope } from '../projects/scope.ts';
import type { Application, Applications } from './applications.ts';
import { ask, createCarryOut, findLeft, type Parts, type Refusal } from './carry-out.ts';
import type { createHistory } from './history.ts';
import { checkKey, visibleTo } from './key-rights.ts';
import { applyChanges, etagFor, findChanges, normalize, originsAfter, partFor } from './plan.ts';
import { showChange } from './words.ts';

export interface ProjectFileDeps {
  projects: Projects;
  parts: Parts;
  applications: Applications;
  listHistory: ReturnType<typeof createHistory>;
  now: () => number;
  log: Pick<Logger, 'info' | 'error'>;
}

export interface SetOptions {
  isDryRun: boolean;
  /** The header If-Match. */
  ifMatch: string | undefined;
}

/** What a file would change. */
interface Plan {
  current: ProjectConfig;
  changes: readonly ConfigChange[];
  left: ReadonlySet<ConfigChange>;
}

export type ProjectFile = ReturnType<typeof createProjectFile>;

const toRefusal = ({ code, message, hint }: Refusal) =>
  new ApiError(code, message, hint === undefined ? {} : { hint });

/** @throws ApiError unavailable where the platform's own part of the work fails */
const asking = async <T>(work: () => Promise<T>, message: string): Promise<T> => {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof ApiError) throw cause;
    throw new ApiError('unavailable', message, { cause, retryAfterSeconds: 10 });
  }
};

/** In the audit log; the application itself keeps more. */
const maxNotedWords = 30;

const nothingChanged = 'A part of the platform does not answer. Nothing was changed.';
const goesOn = 'A part of the platform does not answer. What has begun goes on by itself.';

/** @throws ApiError precondition_failed */
const checkMatch = (ifMatch: string | undefined, etag: string): void => {
  const named = ifMatch?.split(',').map((tag) => tag.trim());
  if (!named || named.includes('*') || named.includes(etag)) return;
  throw new ApiError('precondition_failed', 'The config has changed since it was read.', {
    hint: `Read it anew: its ETag is ${etag}.`,
  });
};

const show = ({ current, changes, left }: Plan, isDryRun: boolean): ConfigPlan => {
  const made = changes.filter((change) => !left.has(change));
  return {
    isDryRun,
    etag: etagFor(isDryRun ? current : applyChanges(current, made)),
    changes: changes.map((change) => showChange(change, left.has(change))),
  };
};

/** All that an owner sets of a project, read as one file and applied as one: whole or not at all. */
export const createProjectFile = (deps: ProjectFileDeps) => {
  const { projects, parts, applications, listHistory, now, log } = deps;
  const carryOut = createCarryOut({ parts, applications, now, log });

  const readAll = async (projectNumber: number): Promise<ProjectConfig> => {
    const read = parts.map(({ directory }) => directory.readConfig(projectNumber));
    const config: ProjectConfig = Object.assign({}, ...(await Promise.all(read)));
    return normalize(config);
  };

  /** Has each part do its changes and undo them at once. @throws ApiError that a part refuses with */
  const tryAll = async (
    { project }: Identity,
    current: ProjectConfig,
    changes: readonly ConfigChange[],
  ) => {
    const { id, number, ownerId } = project;
    const allowedOrigins = originsAfter(current.settings, changes);
    const left: ConfigChange[] = [];
    for (const { name, directory } of parts) {
      const own = changes.filter((change) => partFor(change) === name);
      if (own.length === 0) continue;
      const asked = { id, number, ownerId, allowedOrigins };
      const outcome = await ask(directory, asked, own, { isTrial: true });
      if (outcome.refused) throw toRefusal(outcome.refused);
      left.push(...findLeft(own, outcome.left));
    }
    return new Set(left);
  };

  const plan = async (
    identity: Identity,
    wanted: ProjectConfig,
    ifMatch: string | undefined,
  ): Promise<Plan> => {
    const current = await readAll(identity.project.number);
    checkMatch(ifMatch, etagFor(current));
    const changes = findChanges(current, normalize(wanted));
    checkKey(identity, changes);
    return { current, changes, left: await tryAll(identity, current, changes) };
  };

  const planOrDrop = async (application: Application, work: () => Promise<Plan>): Promise<Plan> => {
    try {
      return await work();
    } catch (error) {
      await applications.drop(application);
      throw error;
    }
  };

  const forwardOrLetGo = async (application: Application) => {
    try {
      return await carryOut.forward(application);
    } catch (error) {
      await applications.letGo(application);
      throw error;
    }
  };

  const apply = async (
    identity: Identity,
    wanted: ProjectConfig,
    ifMatch: string | undefined,
  ): Promise<ConfigPlan> => {
    const claimed = await applications.claim(identity);
    const planned = await planOrDrop(claimed, () =>
      asking(() => plan(identity, wanted, ifMatch), nothingChanged),
    );
    const made = planned.changes.filter((change) => !planned.left.has(change));
    if (made.length === 0) {
      await applications.drop(claimed);
      return show(planned, false);
    }
    const words = planned.changes.map(
      (change) => showChange(change, planned.left.has(change)).text,
    );
    const application = await asking(
      () =>
        applications.begin(claimed, made, words, () =>
          noteAct({ after: { application: claimed.id, changes: words.slice(0, maxNotedWords) } }),
        ),
      nothingChanged,
    );
    const ended = await asking(() => forwardOrLetGo(application), goesOn);
    if (ended.state === 'undone') throw toRefusal(ended.refused);
    return show({ ...planned, left: new Set([...planned.left, ...ended.left]) }, false);
  };

  return {
    /** Everything that this caller may read of it, and its ETag. @throws ApiError project_deleted, conflict, unavailable */
    async read(identity: Identity): Promise<{ config: ProjectConfig; etag: string }> {
      const { number } = identity.project;
      await projects.get(toScope(identity));
      await applications.checkIdle(number);
      const config = await asking(() => readAll(number), nothingChanged);
      return { config: visibleTo(identity, config), etag: etagFor(config) };
    },

    /** @throws ApiError precondition_failed, conflict, forbidden, unavailable, and what a part refuses with */
    async set(
      identity: Identity,
      wanted: ProjectConfig,
      { isDryRun, ifMatch }: SetOptions,
    ): Promise<ConfigPlan> {
      await projects.get(toScope(identity));
      if (!isDryRun) return apply(identity, wanted, ifMatch);
      await applications.checkIdle(identity.project.number);
      const planned = await asking(() => plan(identity, wanted, ifMatch), nothingChanged);
      return show(planned, true);
    },

    /** The last ones, newest first. @throws ApiError project_deleted */
    async list(identity: Identity): Promise<ConfigApplication[]> {
      await projects.get(toScope(identity));
      return listHistory(identity.project.number);
    },
    /** Goes on with what a killed process has left; also runs every few seconds. */
    resume: carryOut.resume,
  };
};
