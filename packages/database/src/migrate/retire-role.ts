import pg from 'pg';
import { withClient } from './one-client.ts';

const suffix = '_2';

/** A service has two names in turn, so that the role before works on while the next one is taken up. */
export const otherRole = (name: string): string =>
  name.endsWith(suffix) ? name.slice(0, -suffix.length) : `${name}${suffix}`;

/**
 * Takes the log-in and the password from these roles, those that are not there left out. A migration for one of them
 * gives it both again.
 * @param url of the role that migrates
 * @returns those that could log in until now
 * @throws Error while somebody is connected as one, DatabaseUnavailable
 */
export const retireRoles = (url: string, names: readonly string[]): Promise<string[]> =>
  withClient({ connectionString: url }, async (client) => {
    const { rows: busy } = await client.query<{ role: string; connections: number }>(
      `SELECT usename AS role, count(*)::int AS connections FROM pg_stat_activity
        WHERE usename = ANY ($1) GROUP BY usename ORDER BY usename`,
      [names],
    );
    if (busy.length > 0) {
      const who = busy.map(({ role, connections }) => `${role} (${connections})`).join(', ');
      throw new Error(`Still connected: ${who}. Exchange the processes of these roles first.`);
    }
    const { rows } = await client.query<{ role: string }>(
      'SELECT rolname AS role FROM pg_roles WHERE rolname = ANY ($1) AND rolcanlogin ORDER BY rolname',
      [names],
    );
    for (const { role } of rows)
      await client.query(`ALTER ROLE ${pg.escapeIdentifier(role)} NOLOGIN PASSWORD NULL`);
    return rows.map(({ role }) => role);
  });
