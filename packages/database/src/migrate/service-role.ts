import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import pg from 'pg';
import { withClient } from './one-client.ts';

/** A login that reads and writes the rows of one schema, and nothing else. */
export interface ServiceRole {
  name: string;
  password: string;
}

export interface GrantOptions {
  schema: string;
  role: ServiceRole;
}

interface Granter {
  is_owner: boolean;
  may_create: boolean;
  database: string;
}

const nameBytes = 63;
const { escapeIdentifier, escapeLiteral } = pg;

/**
 * The role and the password in a service's address of PostgreSQL.
 * @throws Error where it has none, or a name that PostgreSQL would cut off
 */
export const roleIn = (url: string): ServiceRole => {
  const { username, password } = new URL(url);
  const name = decodeURIComponent(username);
  if (name === '' || password === '') throw new Error('The address names no role or no password.');
  if (Buffer.byteLength(name) > nameBytes)
    throw new Error(`The name of the role ${name} is longer than ${nameBytes} bytes.`);
  return { name, password: decodeURIComponent(password) };
};

/** The same database for this role. */
export const addressFor = ({ name, password }: ServiceRole, url: string): string => {
  const address = new URL(url);
  [address.username, address.password] = [encodeURIComponent(name), encodeURIComponent(password)];
  return address.href;
};

/** What PostgreSQL stores of a password (RFC 5803), so that no statement, and no log, holds it. */
const scramVerifier = (password: string): string => {
  const [salt, iterations] = [randomBytes(16), 4096];
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, iterations, 32, 'sha256');
  const keyed = (text: string) => createHmac('sha256', salted).update(text).digest();
  const stored = createHash('sha256').update(keyed('Client Key')).digest('base64');
  const parts = [salt.toString('base64'), stored, keyed('Server Key').toString('base64')];
  return `SCRAM-SHA-256$${iterations}:${parts[0]}$${parts[1]}:${parts[2]}`;
};

const selectGranter = `
  SELECT current_database() AS database, me.rolsuper OR me.rolcreaterole AS may_create,
         me.rolsuper OR pg_has_role(d.datdba, 'MEMBER') AS is_owner
    FROM pg_roles me, pg_database d WHERE me.rolname = current_user AND d.datname = current_database()`;

const selectRole = `
  SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls AS is_mighty
    FROM pg_roles WHERE rolname = $1`;

/** Makes the role, or gives it this password; one that was made by hand keeps its own where it has to. */
const ensureRole = async (
  client: pg.ClientBase,
  { name, password }: ServiceRole,
  mayCreate: boolean,
) => {
  const { rows } = await client.query<{ is_mighty: boolean }>(selectRole, [name]);
  if (rows[0]?.is_mighty)
    throw new Error(`The role ${name} may do more in PostgreSQL than a service should.`);
  if (!mayCreate) {
    if (rows[0]) return;
    throw new Error(
      `The role that migrates may not create roles. Let it (CREATEROLE), or create the role ${name} first.`,
    );
  }
  const verb = rows[0] ? 'ALTER' : 'CREATE';
  await client.query(
    `${verb} ROLE ${escapeIdentifier(name)} LOGIN PASSWORD ${escapeLiteral(scramVerifier(password))}`,
  );
};

const rowRights = 'SELECT, INSERT, UPDATE, DELETE ON';

const grantsOn = (schema: string, role: string) => {
  const inSchema = `IN SCHEMA ${schema}`;
  return [
    `CREATE SCHEMA IF NOT EXISTS ${schema}`,
    `GRANT USAGE ON SCHEMA ${schema} TO ${role}`,
    `GRANT ${rowRights} ALL TABLES ${inSchema} TO ${role}`,
    `GRANT USAGE, SELECT ON ALL SEQUENCES ${inSchema} TO ${role}`,
    `ALTER DEFAULT PRIVILEGES ${inSchema} GRANT ${rowRights} TABLES TO ${role}`,
    `ALTER DEFAULT PRIVILEGES ${inSchema} GRANT USAGE, SELECT ON SEQUENCES TO ${role}`,
  ];
};

/** Nobody but the roles that are named gets into the database. */
const databaseGrants = (database: string, role: string) => [
  `REVOKE ALL ON DATABASE ${database} FROM PUBLIC`,
  'REVOKE ALL ON SCHEMA public FROM PUBLIC',
  `GRANT CONNECT ON DATABASE ${database} TO ${role}`,
];

/** Whether the role of this address may create others. */
export const mayCreateRoles = (url: string): Promise<boolean> =>
  withClient({ connectionString: url }, async (client) => {
    const { rows } = await client.query<Granter>(selectGranter);
    return rows[0]?.may_create === true;
  });

/**
 * Makes the role where it is missing, and grants it the rows of the schema, of later tables too. May be
 * run any number of times, also while the role is in use; not twice at once.
 */
export const grantToService = async (
  client: pg.ClientBase,
  { schema, role }: GrantOptions,
): Promise<void> => {
  const { rows } = await client.query<Granter>(selectGranter);
  const [granter] = rows;
  const name = escapeIdentifier(role.name);
  const statements = [
    ...(granter?.is_owner ? databaseGrants(escapeIdentifier(granter.database), name) : []),
    ...grantsOn(escapeIdentifier(schema), name),
  ];
  await client.query('BEGIN');
  await ensureRole(client, role, granter?.may_create === true);
  for (const statement of statements) await client.query(statement);
  await client.query('COMMIT');
};

/** What has been applied is for the service to read. */
export const protectMigrations = async (
  client: pg.ClientBase,
  { schema, role }: Pick<GrantOptions, 'schema' | 'role'>,
): Promise<void> => {
  const [table, name] = [`${escapeIdentifier(schema)}.migrations`, escapeIdentifier(role.name)];
  await client.query(`REVOKE INSERT, UPDATE, DELETE ON ${table} FROM ${name}`);
};
