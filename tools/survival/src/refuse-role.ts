import pg from 'pg';

/**
 * Gives the role of a service another password, and ends its connections.
 * @returns puts its own back
 */
export const refuseRole = async (databaseUrl: string, service: string) => {
  const role = `${new URL(databaseUrl).pathname.slice(1)}_${service}`;
  const admin = new pg.Client(databaseUrl);
  await admin.connect();
  const { rows } = await admin.query<{ rolpassword: string }>(
    'SELECT rolpassword FROM pg_authid WHERE rolname = $1',
    [role],
  );
  const [own] = rows;
  if (!own) throw new Error(`There is no role ${role}.`);
  const setPassword = (password: string) =>
    admin.query(`ALTER ROLE ${pg.escapeIdentifier(role)} PASSWORD ${pg.escapeLiteral(password)}`);
  await setPassword('another-password-of-the-test');
  await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [
    role,
  ]);
  return async () => {
    await setPassword(own.rolpassword);
    await admin.end();
  };
};
