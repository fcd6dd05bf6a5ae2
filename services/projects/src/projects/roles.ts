import { ApiError, maxRolesWithPowers, type PowersOfRoles, type Role } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import type { DB as Tables } from '../tables.ts';
import type { Projects } from './projects.ts';
import { inScope, type ProjectScope } from './scope.ts';

export interface RolesDeps {
  database: Database;
  projects: Projects;
  now: () => number;
}

const toRoles = (powers: PowersOfRoles): Role[] =>
  Object.keys(powers)
    .sort()
    .map((name) => ({ name, may: [...(powers[name] ?? [])] }));

/** What the users of a project's roles may, beyond what rules say. */
export const createRoles = ({ database, projects, now }: RolesDeps) => {
  const queries = createQueries<Tables>(database);
  const active = (scope: ProjectScope) =>
    queries
      .selectFrom('projects')
      .select(['number', 'id', 'roles'])
      .where(inScope(scope))
      .where('deleted_at', 'is', null);

  /** One change of a project's roles after the other. @throws ApiError project_not_found, project_deleted */
  const change = (scope: ProjectScope, toChanged: (powers: PowersOfRoles) => PowersOfRoles) =>
    database.transaction(async () => {
      const row = await active(scope).forNoKeyUpdate().executeTakeFirst();
      if (!row) throw await projects.explainMissing(scope);
      const roles = toChanged(row.roles as PowersOfRoles);
      await queries
        .updateTable('projects')
        .set({ roles: JSON.stringify(roles), updated_at: new Date(now()) })
        .where(inScope(scope))
        .execute();
      await projects.publishChange(row);
    });

  return {
    /** By name. @throws ApiError project_not_found, project_deleted */
    async list(scope: ProjectScope): Promise<Role[]> {
      const row = await active(scope).executeTakeFirst();
      if (!row) throw await projects.explainMissing(scope);
      return toRoles(row.roles as PowersOfRoles);
    },

    /** @throws ApiError project_not_found, project_deleted, invalid_path, role_limit */
    async set(scope: ProjectScope, { name, may }: Role): Promise<Role> {
      if (name === 'user')
        throw new ApiError(
          'invalid_path',
          '"user" is everybody who signs up: give powers to a role.',
          {
            hint: 'Set one of your own first: PATCH /users/<id> {"role": "staff"}.',
          },
        );
      await change(scope, (powers) => {
        const changed = { ...powers, [name]: may };
        if (Object.keys(changed).length <= maxRolesWithPowers) return changed;
        throw new ApiError(
          'role_limit',
          `A project can have powers for at most ${maxRolesWithPowers} roles.`,
        );
      });
      return { name, may };
    },

    /** @throws ApiError project_not_found, project_deleted, not_found */
    remove: (scope: ProjectScope, name: string): Promise<void> =>
      change(scope, (powers) => {
        if (!Object.hasOwn(powers, name))
          throw new ApiError('not_found', 'This role has no powers.');
        const { [name]: _removed, ...rest } = powers;
        return rest;
      }),
  };
};

export type Roles = ReturnType<typeof createRoles>;
