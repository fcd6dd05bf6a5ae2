import { ApiError, type ClassLimits, type LimitChanges, limitClasses } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import type { ProjectsConfig } from '../config.ts';
import type { DB as Tables } from '../tables.ts';
import type { Projects } from './projects.ts';
import { inScope, type ProjectScope } from './scope.ts';

type ClassName = (typeof limitClasses)[number];
const kinds = ['perCaller', 'perProject'] as const;
type Kind = (typeof kinds)[number];

/** One layer as it is stored: only what somebody set. Calls a minute. */
export type LimitLayer = Partial<Record<ClassName, Partial<Record<Kind, number>>>>;

const forEachLimit = <T>(value: (name: ClassName, kind: Kind) => T) =>
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
  forEachLimit((name, kind) =>
    Math.min(owner[name]?.[kind] ?? Infinity, operator[name]?.[kind] ?? defaults[name][kind]),
  );

/** Null removes a value, or all of a class. */
const mergeLimits = (layer: LimitLayer, changes: LimitChanges): LimitLayer => {
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
  const queries = createQueries<Tables>(database);

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
    /** As they hold. @throws ApiError project_not_found, project_deleted */
    async get(scope: ProjectScope): Promise<ClassLimits> {
      const row = await queries
        .selectFrom('projects')
        .select(['operator_limits', 'owner_limits'])
        .where(inScope(scope))
        .where('deleted_at', 'is', null)
        .executeTakeFirst();
      if (!row) throw await projects.explainMissing(scope);
      return effectiveLimits(
        config.defaultLimits,
        row.operator_limits as LimitLayer,
        row.owner_limits as LimitLayer,
      );
    },

    /**
     * Changes the operator's layer for the operator, else the owner's.
     * @throws ApiError project_not_found, project_deleted, forbidden
     */
    set: (
      scope: ProjectScope,
      changes: LimitChanges,
      layer: 'operator' | 'owner' = scope.anyOwner ? 'operator' : 'owner',
    ): Promise<ClassLimits> =>
      database.transaction(async () => {
        const isOperators = layer === 'operator';
        const row = await queries
          .selectFrom('projects')
          .select(['number', 'id', 'operator_limits', 'owner_limits'])
          .where(inScope(scope))
          .where('deleted_at', 'is', null)
          .forNoKeyUpdate()
          .executeTakeFirst();
        if (!row) throw await projects.explainMissing(scope);
        const before = {
          operator: row.operator_limits as LimitLayer,
          owner: row.owner_limits as LimitLayer,
        };
        if (!isOperators) checkOnlyLowered(changes, before.operator);
        const operator = isOperators ? mergeLimits(before.operator, changes) : before.operator;
        const owner = isOperators ? before.owner : mergeLimits(before.owner, changes);
        await queries
          .updateTable('projects')
          .set({
            operator_limits: JSON.stringify(operator),
            owner_limits: JSON.stringify(owner),
            updated_at: new Date(now()),
          })
          .where(inScope(scope))
          .execute();
        await projects.publishChange(row);
        return effectiveLimits(config.defaultLimits, operator, owner);
      }),
  };
};
