import { ApiError, type ClassLimits, type LimitChanges, limitClasses } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { ProjectsConfig } from './config.ts';
import { type ProjectRow, type Projects, projectColumns } from './projects.ts';
import { inScope, type ProjectScope, scopeValues } from './scope.ts';

type ClassName = (typeof limitClasses)[number];
const kinds = ['perCaller', 'perProject'] as const;
type Kind = (typeof kinds)[number];

/** One layer as it is stored: only what somebody set. Calls a minute. */
export type LimitLayer = Partial<Record<ClassName, Partial<Record<Kind, number>>>>;

const each = <T>(value: (name: ClassName, kind: Kind) => T) =>
  Object.fromEntries(
    limitClasses.map((name) => [
      name,
      Object.fromEntries(kinds.map((kind) => [kind, value(name, kind)])),
    ]),
  ) as Record<ClassName, Record<Kind, T>>;

/** The owner can only lower what the operator, or else the default, allows. */
export const effectiveLimits = (
  defaults: ClassLimits,
  operator: LimitLayer,
  owner: LimitLayer,
): ClassLimits =>
  each((name, kind) =>
    Math.min(owner[name]?.[kind] ?? Infinity, operator[name]?.[kind] ?? defaults[name][kind]),
  );

/** Null removes a value, or all of a class. */
export const mergeLimits = (layer: LimitLayer, changes: LimitChanges): LimitLayer => {
  const merged: LimitLayer = {};
  for (const name of limitClasses) {
    const change = changes[name];
    if (change === null) continue;
    const values = Object.entries({ ...layer[name], ...change }).filter(
      ([, value]) => typeof value === 'number',
    );
    if (values.length > 0) merged[name] = Object.fromEntries(values);
  }
  return merged;
};

export interface LimitsDeps {
  database: Database;
  projects: Projects;
  config: ProjectsConfig;
  now: () => number;
}

export type Limits = ReturnType<typeof createLimits>;

export const createLimits = ({ database, projects, config, now }: LimitsDeps) => {
  const checkOnlyLowered = (changes: LimitChanges, operator: LimitLayer) => {
    const allowed = effectiveLimits(config.defaultLimits, operator, {});
    for (const name of limitClasses) {
      for (const kind of kinds) {
        const value = changes[name]?.[kind];
        if (value === null || value === undefined || value <= allowed[name][kind]) continue;
        throw new ApiError(
          'forbidden',
          `"${name}.${kind}": at most ${allowed[name][kind]} calls a minute.`,
          {
            hint: 'An owner can lower limits; only the operator can raise them.',
          },
        );
      }
    }
  };

  return {
    /**
     * Changes the operator's layer for the operator, else the owner's.
     * @throws ApiError project_not_found, project_deleted, forbidden
     */
    set: (scope: ProjectScope, changes: LimitChanges): Promise<ClassLimits> =>
      database.transaction(async () => {
        const [row] = await database.query<
          ProjectRow & { operator_limits: LimitLayer; owner_limits: LimitLayer }
        >(
          `SELECT ${projectColumns}, operator_limits, owner_limits FROM projects
            WHERE ${inScope} AND deleted_at IS NULL FOR NO KEY UPDATE`,
          scopeValues(scope),
        );
        if (!row) throw await projects.missing(scope);
        if (!scope.anyOwner) checkOnlyLowered(changes, row.operator_limits);
        const operator = scope.anyOwner
          ? mergeLimits(row.operator_limits, changes)
          : row.operator_limits;
        const owner = scope.anyOwner ? row.owner_limits : mergeLimits(row.owner_limits, changes);
        await database.query(
          `UPDATE projects SET operator_limits = $4, owner_limits = $5, updated_at = $6 WHERE ${inScope}`,
          [...scopeValues(scope), JSON.stringify(operator), JSON.stringify(owner), new Date(now())],
        );
        await projects.changed(row);
        return effectiveLimits(config.defaultLimits, operator, owner);
      }),
  };
};
