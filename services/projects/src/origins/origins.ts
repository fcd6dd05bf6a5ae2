import { randomBytes } from 'node:crypto';
import { ApiError, isUuid, originRoutes, type ProvenOrigin } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import { FairShareFull, outsideCalls, toRequester } from '@backlot/fair-shares';
import type { Identity } from '@backlot/identity';
import { hostName, isLoopbackHost } from '@backlot/outgoing';
import type { Selectable } from 'kysely';
import { uuidv7 } from 'uuidv7';
import type { Projects } from '../projects/projects.ts';
import { type ProjectScope, toScope } from '../projects/scope.ts';
import type { Origin as OriginTable, DB as Tables } from '../tables.ts';
import type { CheckBounds } from './check-bounds.ts';
import { type FindProof, proofPlaces } from './proof.ts';

const { maxOrigins } = originRoutes;

const tokenBytes = 24;
/** Checks at a time in one process; each waits for somebody else's server. */
const checksAtOnce = 8;
/** A proven origin is looked at again after so long; where that finds no proof, a day later, three times. */
const recheckMs = 7 * 24 * 60 * 60 * 1000;
const retryMs = 24 * 60 * 60 * 1000;
const maxFailedChecks = 3;
/** Those under way are waited for where the process stops. */
const recheckBatch = 5;
export const recheckIntervalMs = 5 * 60 * 1000;

type OriginRow = Selectable<OriginTable>;

const present = (row: OriginRow): ProvenOrigin => ({
  id: row.id,
  origin: row.origin,
  verifiedAt: row.verified_at?.toISOString() ?? null,
  checkedAt: row.checked_at?.toISOString() ?? null,
  createdAt: row.created_at.toISOString(),
  ...proofPlaces(row.origin, row.token),
});
const originNotFound = () => new ApiError('not_found', 'The project names no such origin.');

export interface OriginsDeps {
  database: Database;
  projects: Projects;
  checkBounds: CheckBounds;
  findProof: FindProof;
  allowsLoopback: boolean;
  now: () => number;
}

export type Origins = ReturnType<typeof createOrigins>;

/** Where a project's app runs, as its owner says and proves it. */
export const createOrigins = (deps: OriginsDeps) => {
  const { database, projects, checkBounds, findProof, allowsLoopback, now } = deps;
  const queries = createQueries<Tables>(database);
  const checks = outsideCalls({ places: checksAtOnce, maxWaiting: 25 });

  const inProject = (projectNumber: number) =>
    queries.selectFrom('origins').selectAll().where('project_number', '=', projectNumber);
  /** Of a project in scope. @throws ApiError project_not_found, project_deleted, not_found */
  const find = async (scope: ProjectScope, id: string): Promise<OriginRow> => {
    await projects.get(scope);
    const row = isUuid(id)
      ? await inProject(scope.projectNumber).where('id', '=', id).executeTakeFirst()
      : undefined;
    if (!row) throw originNotFound();
    return row;
  };
  const update = ({ project_number: projectNumber, id }: OriginRow) =>
    queries
      .updateTable('origins')
      .where('project_number', '=', projectNumber)
      .where('id', '=', id)
      .returningAll();

  /** Stores what a check has found; tells the caches where the origin's state has changed. */
  const record = (row: OriginRow, isProven: boolean): Promise<OriginRow | undefined> =>
    database.transaction(async () => {
      const checkedAt = new Date(now());
      const failedChecks = isProven ? 0 : row.failed_checks + 1;
      const isLost = failedChecks >= maxFailedChecks;
      const verifiedAt = isProven
        ? (row.verified_at ?? checkedAt)
        : isLost
          ? null
          : row.verified_at;
      const updated = await update(row)
        .set({ checked_at: checkedAt, failed_checks: failedChecks, verified_at: verifiedAt })
        .executeTakeFirst();
      const hasChanged = (row.verified_at === null) !== (verifiedAt === null);
      if (updated && hasChanged) await projects.publishChangeOf(row.project_number);
      return updated;
    });

  return {
    /** @throws ApiError project_not_found, project_deleted, invalid_body, conflict, origin_limit */
    add: (scope: ProjectScope, origin: string): Promise<ProvenOrigin> =>
      database.transaction(async () => {
        const isLocal = isLoopbackHost(hostName(origin));
        if (isLocal && !allowsLoopback)
          throw new ApiError('invalid_body', '"origin" must not be of this machine');
        if (!isLocal && !origin.startsWith('https:'))
          throw new ApiError('invalid_body', '"origin" must begin with https://');
        await projects.lock(scope);
        const others = await inProject(scope.projectNumber).execute();
        if (others.some((other) => other.origin === origin))
          throw new ApiError('conflict', 'The project names this origin already.');
        if (others.length >= maxOrigins)
          throw new ApiError('origin_limit', `A project names at most ${maxOrigins} origins.`);
        const row = await queries
          .insertInto('origins')
          .values({
            project_number: scope.projectNumber,
            id: uuidv7(),
            origin,
            token: randomBytes(tokenBytes).toString('base64url'),
            created_at: new Date(now()),
          })
          .returningAll()
          .executeTakeFirstOrThrow();
        return present(row);
      }),

    /** @throws ApiError project_not_found, project_deleted */
    async list(scope: ProjectScope): Promise<ProvenOrigin[]> {
      await projects.get(scope);
      const rows = await inProject(scope.projectNumber).orderBy('id').limit(maxOrigins).execute();
      return rows.map(present);
    },

    /**
     * Looks for the proof, outside of any transaction; what it answers stores what was found.
     * @throws ApiError project_not_found, project_deleted, not_found, origin_unproven, too_many_attempts, overloaded
     */
    async prepareCheck(identity: Identity, id: string): Promise<() => Promise<ProvenOrigin>> {
      const row = await find(toScope(identity), id);
      await checkBounds.count(identity);
      const work = () => findProof(row.origin, row.token);
      const isProven = await checks.run(toRequester(identity), work).catch((error: unknown) => {
        if (!(error instanceof FairShareFull)) throw error;
        throw new ApiError('overloaded', 'Too many origins are being checked.', {
          cause: error,
          retryAfterSeconds: error.retryAfterSeconds,
        });
      });
      if (!isProven) {
        const { file, dns } = proofPlaces(row.origin, row.token);
        const record = dns ? `, or TXT record ${dns.name} with ${dns.value}` : '';
        throw new ApiError('origin_unproven', `No proof was found for ${row.origin}.`, {
          hint: `Publish ${file.url} with the content ${file.content}, without a redirect${record}.`,
        });
      }
      return async () => {
        const stored = await record(row, true);
        if (!stored) throw originNotFound();
        return present(stored);
      };
    },

    /** @throws ApiError project_not_found, project_deleted, not_found */
    remove: (scope: ProjectScope, id: string): Promise<void> =>
      database.transaction(async () => {
        const row = await find(scope, id);
        await queries
          .deleteFrom('origins')
          .where('project_number', '=', row.project_number)
          .where('id', '=', row.id)
          .execute();
        if (row.verified_at) await projects.publishChangeOf(row.project_number);
      }),

    /** See `HostDirectory`: of several the first, as who proves an origin later takes it from nobody. */
    async findHost(host: string): Promise<{ projectId: string } | null> {
      const [found] = await database.acrossProjects(() =>
        database.query<{ id: string }>(
          `SELECT projects.id FROM origins JOIN projects ON number = project_number
            WHERE origin = $1 AND verified_at IS NOT NULL AND deleted_at IS NULL
            ORDER BY verified_at, number LIMIT 1`,
          [`https://${host}`],
        ),
      );
      return found ? { projectId: found.id } : null;
    },

    /** Looks again at a few origins that were proven a while ago: at one of each owner first, which ones by lot. */
    async recheck(): Promise<void> {
      const due = await database.query<OriginRow>(
        `SELECT * FROM (
           SELECT origins.*, row_number() OVER (PARTITION BY owner_id ORDER BY checked_at) AS turn
             FROM origins JOIN projects ON number = project_number
            WHERE verified_at IS NOT NULL
              AND checked_at < CASE WHEN failed_checks = 0 THEN $1::timestamptz ELSE $2::timestamptz END) AS due
          ORDER BY turn, random() LIMIT ${recheckBatch}`,
        [new Date(now() - recheckMs), new Date(now() - retryMs)],
      );
      for (const row of due) await record(row, await findProof(row.origin, row.token));
    },
  };
};
