import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, workLeft } from '@backlot/database';
import { readAcrossProjects } from '../../across-projects.ts';

/** What is done by `createTurns`. */
export interface WorkInTurns {
  /** Selects what there is to do. */
  nextSql: string;
  /** Works for about a second; goes on at the next call, if anything is left. */
  run(): Promise<typeof workLeft | undefined>;
}

/** Sweeps of one interval begin within this time of each other. */
const gatherMs = 20;

/**
 * One statement that tells of many kinds of work whether there is any, so that a service without work asks
 * PostgreSQL once and not once for each of them.
 */
export const createGlance = (database: Database) => {
  const kinds: string[] = [];
  let underWay: Promise<ReadonlySet<number>> | undefined;

  const look = async () => {
    await sleep(gatherMs);
    underWay = undefined;
    const rows = await readAcrossProjects<{ kind: number }>(database, kinds.join(' UNION ALL '));
    return new Set(rows.map(({ kind }) => kind));
  };

  return {
    /** Runs the work where there is any. */
    before({ nextSql, run }: WorkInTurns): WorkInTurns['run'] {
      const kind = kinds.length;
      kinds.push(`(SELECT ${kind} AS kind FROM (${nextSql}) work LIMIT 1)`);
      return async () => {
        underWay ??= look();
        return (await underWay).has(kind) ? run() : undefined;
      };
    },
  };
};
