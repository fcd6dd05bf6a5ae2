import {
  ApiError,
  type ConfigAsking,
  type ConfigDirectory,
  type ConfigProject,
  type LimitChanges,
  type PowersOfRoles,
  type Role,
} from '@backlot/contract';
import type { Database } from '@backlot/database';
import { type ConfigStore, createConfigPart, namingEntry } from '@backlot/service';
import type { LimitLayer, Limits } from '../projects/limits.ts';
import type { Projects } from '../projects/projects.ts';
import type { Roles } from '../projects/roles.ts';
import type { ProjectScope } from '../projects/scope.ts';
import type { WantedWebhook, Webhooks } from '../webhooks/webhooks.ts';

export interface OwnPartDeps {
  database: Database;
  projects: Projects;
  limits: Limits;
  roles: Roles;
  webhooks: Webhooks;
}

interface Entry {
  perCaller?: number;
  perProject?: number;
}

type Change = ConfigAsking['changes'][number];

/** Nobody hears twice of one app because there is a copy of it. */
const switchOff = (change: Change): Change =>
  change.section === 'webhooks' && change.to !== null
    ? {
        ...change,
        to: { ...(change.to as WantedWebhook), offReason: 'it came with a copy of a project' },
      }
    : change;

/** Whoever owns it: who may was asked before. */
const toScope = ({ number }: ConfigProject): ProjectScope => ({
  projectNumber: number,
  ownerId: null,
  anyOwner: true,
});

/** What the projects service itself keeps of a project's config. */
export const createOwnPart = ({
  database,
  projects,
  limits,
  roles,
  webhooks,
}: OwnPartDeps): ConfigDirectory => {
  const readColumn = async (
    column: 'settings' | 'owner_limits' | 'roles',
    projectNumber: number,
  ) => {
    const [row] = await database.query<{ value: Record<string, unknown> }>(
      `SELECT ${column} AS value FROM projects WHERE number = $1`,
      [projectNumber],
    );
    return row?.value ?? {};
  };

  const settings: ConfigStore = {
    read: (projectNumber) => readColumn('settings', projectNumber),
    async setAll(project, entries) {
      await projects.update(toScope(project), { settings: Object.fromEntries(entries) });
    },
    async remove(project, names) {
      const defaults = Object.fromEntries(names.map((name) => [name, null]));
      await projects.update(toScope(project), { settings: defaults });
      return [];
    },
  };

  const lowered: ConfigStore = {
    read: async (projectNumber) =>
      (await readColumn('owner_limits', projectNumber)) as LimitLayer & Record<string, unknown>,
    set(project, name, entry) {
      const { perCaller = null, perProject = null } = entry as Entry;
      const changes = { [name]: { perCaller, perProject } } as LimitChanges;
      return limits.set(toScope(project), changes, 'owner');
    },
    async remove(project, names) {
      const changes = Object.fromEntries(names.map((name) => [name, null])) as LimitChanges;
      await limits.set(toScope(project), changes, 'owner');
      return [];
    },
  };

  const powers: ConfigStore = {
    async read(projectNumber) {
      const all = (await readColumn('roles', projectNumber)) as PowersOfRoles;
      return Object.fromEntries(Object.entries(all).map(([name, may]) => [name, { may }]));
    },
    set: (project, name, entry) =>
      roles.set(toScope(project), { name, ...(entry as Pick<Role, 'may'>) }),
    async remove(project, names) {
      const there = await roles.list(toScope(project));
      for (const { name } of there)
        if (names.includes(name)) await roles.remove(toScope(project), name);
      return [];
    },
  };

  const told: ConfigStore = {
    async read(projectNumber) {
      const all = await webhooks.listOf(projectNumber);
      return Object.fromEntries(
        all.map(({ name, url, on, where }) => [
          name,
          { url, on, ...(where !== null && { where }) },
        ]),
      );
    },
    set: (project, name, entry) => webhooks.set(toScope(project), name, entry as WantedWebhook),
    async remove(project, names) {
      const there = await webhooks.listOf(project.number);
      for (const { name } of there)
        if (names.includes(name)) await webhooks.remove(toScope(project), name);
      return [];
    },
  };

  const part = createConfigPart(database, {
    settings,
    limits: lowered,
    roles: powers,
    webhooks: told,
  });
  return {
    readConfig: part.readConfig,
    async applyConfig(asking) {
      // Before the transaction, which would wait for another service.
      try {
        for (const { section, name, to } of asking.changes)
          if (section === 'webhooks' && to !== null)
            await namingEntry(`${section}.${name}`, () => webhooks.checkWhere(to as WantedWebhook));
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        return { refused: { code: error.code, message: error.message }, left: [] };
      }
      const changes = asking.isCopy ? asking.changes.map(switchOff) : asking.changes;
      return part.applyConfig({ ...asking, changes });
    },
  };
};
