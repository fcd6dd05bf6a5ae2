import type { ConfigChange, ConfigDirectory, ConfigPart, ConfigProject } from '@backlot/contract';
import type { Logger } from '@backlot/telemetry';
import { type Application, type Applications, LeaseLost } from './applications.ts';
import { originsAfter, partFor, undo } from './plan.ts';

/** In the order in which a file is applied. */
export type Parts = readonly { name: ConfigPart; directory: ConfigDirectory }[];

/** Why one was undone. */
export type Refusal = NonNullable<Awaited<ReturnType<ConfigDirectory['applyConfig']>>['refused']>;

export type Ended =
  /** `left`: changes that were not made, because what was to go has records. */
  { state: 'done'; left: ReadonlySet<ConfigChange> } | { state: 'undone'; refused: Refusal };

/** A part that has not answered for so long is given up. */
const givenUpMs = 24 * 60 * 60 * 1000;

export const findLeft = (
  changes: readonly ConfigChange[],
  left: readonly { section: string; name: string }[],
): ConfigChange[] => {
  const keys = new Set(left.map(({ section, name }) => `${section}.${name}`));
  return changes.filter(({ section, name, to }) => to === null && keys.has(`${section}.${name}`));
};

/** What a change was before says nothing to who makes it. */
export const ask = (
  directory: ConfigDirectory,
  project: ConfigProject,
  changes: readonly ConfigChange[],
  options: { isTrial: boolean; isCopy?: boolean },
) =>
  directory.applyConfig({
    project,
    changes: changes.map(({ section, name, to }) => ({ section, name, to })),
    ...options,
  });

export interface CarryOutDeps {
  parts: Parts;
  applications: Applications;
  now: () => number;
  log: Pick<Logger, 'info' | 'error'>;
}

/**
 * Applies what was decided, part by part, each in one transaction of its own. What a part refuses is undone in those
 * before it; what a part does not answer stays, and is gone on with. To do a part again is harmless.
 */
export const createCarryOut = ({ parts, applications, now, log }: CarryOutDeps) => {
  const changesFor = (application: Application, name: ConfigPart) =>
    application.changes.filter((change) => partFor(change) === name);

  /** @param changes that lead to the origins that it will have */
  const describe = async (
    { project }: Application,
    changes: readonly ConfigChange[],
  ): Promise<ConfigProject> => {
    const own = await parts[0]?.directory.readConfig(project.number);
    return { ...project, allowedOrigins: originsAfter(own?.settings, changes) };
  };

  const back = async (application: Application, from: number): Promise<void> => {
    const project = await describe(application, undo(application.changes));
    const problems: string[] = [];
    for (let at = from - 1; at >= 0; at -= 1) {
      const part = parts[at];
      const changes = part ? undo(changesFor(application, part.name)) : [];
      if (!part || changes.length === 0) continue;
      await applications.reach(application, at + 1);
      const { refused } = await ask(part.directory, project, changes, { isTrial: false });
      if (refused) problems.push(`${part.name}: ${refused.message}`);
    }
    const reason = `${application.reason ?? ''} What was there before could not be put back: ${problems.join(' ')}`;
    await (problems.length === 0
      ? applications.end(application, 'undone')
      : applications.end(application, 'failed', reason));
  };

  /** @throws LeaseLost, Error where a part does not answer */
  const forward = async (application: Application): Promise<Ended> => {
    const project = await describe(application, application.changes);
    const left = new Set<ConfigChange>();
    for (const [at, part] of parts.entries()) {
      const changes = changesFor(application, part.name);
      if (at < application.reached || changes.length === 0) continue;
      await applications.reach(application, at);
      const outcome = await ask(part.directory, project, changes, { isTrial: false });
      if (outcome.refused) {
        const { refused } = outcome;
        await applications.turnBack(application, at, refused.message);
        await back({ ...application, reason: refused.message }, at);
        return { state: 'undone', refused };
      }
      for (const change of findLeft(changes, outcome.left)) left.add(change);
    }
    await applications.end(application, 'done');
    return { state: 'done', left };
  };

  /** One whose worker is gone. */
  const goOn = async (application: Application): Promise<void> => {
    const { id, project, state, reached, startedAt } = application;
    if (state === 'planning') return applications.drop(application);
    if (now() - startedAt > givenUpMs) {
      const reason = `${parts[reached]?.name ?? 'A part'} has not answered for a day.`;
      log.error({ projectId: project.id, id, reason }, 'gave up the application of a config');
      return applications.end(application, 'failed', reason);
    }
    await (state === 'applying' ? forward(application) : back(application, reached));
    log.info({ projectId: project.id, id }, 'ended the application of a config');
  };

  return {
    forward,
    /** Goes on with those that were left behind. */
    async resume(): Promise<void> {
      for (const application of await applications.takeAbandoned())
        await goOn(application).catch((err: unknown) => {
          if (!(err instanceof LeaseLost))
            log.error(
              { err, id: application.id },
              'a config is not applied yet; it is tried again',
            );
        });
    },
  };
};
