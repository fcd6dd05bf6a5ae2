import { type ArchivedUser, archiveLines } from '@backlot/contract';
import { createQueries, type Database, violatedConstraint } from '@backlot/database';
import {
  type ArchiveStore,
  invalidArchive,
  readArchiveLines,
  toArchiveLines,
} from '@backlot/service';
import type { Insertable, Selectable } from 'kysely';
import type { AuthConfig } from '../config.ts';
import type { DB as Tables, User as UserTable } from '../tables.ts';
import { presentBlock } from '../users/user-row.ts';
import type { AddressProofs } from './address-proofs.ts';
import { isAcceptableHash } from './archived-hash.ts';
import { createArchivedIdentities } from './archived-identities.ts';
import { createArchivedPasskeys } from './archived-passkeys.ts';

/** With profiles of 10 KiB they are a line of 1 MiB. */
const pageRows = 100;

export interface UsersArchiveDeps {
  database: Database;
  proofs: AddressProofs;
  config: Pick<AuthConfig, 'argon2'>;
  now: () => number;
}

type Row = Selectable<UserTable>;

const toBlock = (row: Row, nowMs: number): Pick<ArchivedUser, 'blocked'> => {
  const block = presentBlock(row, nowMs);
  if (!block || !row.blocked_at) return {};
  return { blocked: { since: row.blocked_at.toISOString(), ...block } };
};

/** Users as a project's archive has them. */
export const createUsersArchive = (deps: UsersArchiveDeps): ArchiveStore => {
  const { database, proofs, config, now } = deps;
  const queries = createQueries<Tables>(database);
  const identities = createArchivedIdentities(database);
  const passkeys = createArchivedPasskeys(database);

  const toLine = (row: Row, projectId: string, hasPasswords: boolean): ArchivedUser => ({
    id: row.id,
    email: row.email,
    name: row.name,
    avatar: row.avatar,
    role: row.role,
    emailVerified: row.email_verified,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    profile: row.profile as Record<string, unknown>,
    publicProfile: row.public_profile as Record<string, unknown>,
    ...toBlock(row, now()),
    ...(row.email_verified &&
      row.email !== null && {
        verifiedBy: proofs.write({ projectId, userId: row.id, email: row.email }),
      }),
    ...(hasPasswords && row.password_hash !== null && { passwordHash: row.password_hash }),
  });

  const toRow = (project: number, line: ArchivedUser): Insertable<UserTable> => {
    const { id: userId, email, passwordHash, blocked } = line;
    const isKnown = passwordHash !== undefined && isAcceptableHash(passwordHash, config.argon2);
    return {
      project_number: project,
      id: line.id,
      email: line.email,
      name: line.name,
      avatar: line.avatar,
      role: line.role,
      email_verified:
        line.emailVerified && email !== null && proofs.isValid({ userId, email }, line.verifiedBy),
      is_guest: email === null,
      created_at: new Date(line.createdAt),
      updated_at: new Date(line.updatedAt),
      profile: JSON.stringify(line.profile),
      public_profile: JSON.stringify(line.publicProfile),
      password_hash: isKnown && email !== null ? passwordHash : null,
      blocked_at: blocked ? new Date(blocked.since) : null,
      blocked_until: blocked?.until ? new Date(blocked.until) : null,
      block_reason: blocked?.reason ?? null,
    };
  };

  return {
    async read({ project, after, hasPasswords }) {
      let users = queries
        .selectFrom('users')
        .selectAll()
        .where('project_number', '=', project.number)
        .orderBy('id')
        .limit(pageRows + 1);
      if (after !== null) users = users.where('id', '>', after);
      const rows = await users.execute();
      const ids = rows.map(({ id }) => id);
      const linked = await identities.read(project.number, ids);
      const keys = await passkeys.read(project.number, ids);
      return toArchiveLines(
        rows,
        pageRows,
        (row) => {
          const own = linked.get(row.id);
          const ownKeys = keys.get(row.id);
          return {
            ...toLine(row, project.id, hasPasswords),
            ...(own && { identities: own }),
            ...(ownKeys && { passkeys: ownKeys }),
          };
        },
        ({ id }) => id,
      );
    },

    async take({ project }, lines) {
      const users = readArchiveLines(archiveLines.user, lines);
      try {
        await database.transaction(async () => {
          await queries
            .insertInto('users')
            .values(users.map((user) => toRow(project.number, user)))
            .execute();
          await identities.take(project.number, users);
          await passkeys.take(project.number, users);
        });
      } catch (error) {
        const constraint = violatedConstraint(error);
        if (constraint === 'users_email') throw invalidArchive('two users have one address');
        if (constraint === 'users_pkey') throw invalidArchive('two users have one id');
        throw error;
      }
    },
  };
};
