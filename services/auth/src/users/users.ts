import { type EventPayloads, isUuid, platformProject, type User } from '@backlot/contract';
import { createQueries, type Database, type Outbox } from '@backlot/database';
import { sql } from 'kysely';
import { uuidv7 } from 'uuidv7';
import type { DB as Tables } from '../tables.ts';
import { createBlockedAddresses } from './blocked-addresses.ts';
import { createEraseUser } from './erase-user.ts';
import { emailTaken, unknownUser } from './refusals.ts';
import { createUserEvents } from './user-events.ts';
import { createUserReads } from './user-reads.ts';
import {
  type Account,
  presentUser,
  requireAddress,
  type UserRow,
  type UserValues,
  userColumns,
} from './user-row.ts';

export interface Block {
  reason: string | null;
  /** Null: for good. */
  until: Date | null;
}

export interface UserChanges {
  email?: string | undefined;
  name?: string | null | undefined;
  avatar?: string | null | undefined;
  profile?: Record<string, unknown> | undefined;
  publicProfile?: Record<string, unknown> | undefined;
  role?: string | undefined;
  emailVerified?: boolean | undefined;
  /** Null ends one. */
  block?: Block | null | undefined;
}

const isEmailTaken = (error: unknown) =>
  (error as { constraint?: string }).constraint === 'users_email';

export const createUsers = (
  database: Database,
  outbox: Outbox<EventPayloads>,
  now: () => number,
) => {
  const queries = createQueries<Tables>(database);
  const blockedAddresses = createBlockedAddresses(database, now);
  const events = createUserEvents(outbox, now);
  const reads = createUserReads(database, now);

  return {
    ...reads,

    /** Whether an account of this address was erased while it was blocked. */
    isAddressBlocked: blockedAddresses.has,

    present: (row: UserRow): User => presentUser(row, now()),

    /** An account as `add` stores it. */
    create(user: {
      /** Null: a guest. */
      email: string | null;
      name: string | null;
      /** Null: no password opens it. */
      passwordHash: string | null;
      emailVerified: boolean;
    }): Account {
      const at = new Date(now());
      return {
        id: uuidv7(),
        email: user.email,
        name: user.name,
        avatar: null,
        profile: {},
        public_profile: {},
        role: 'user',
        email_verified: user.emailVerified,
        is_guest: user.email === null,
        created_at: at,
        updated_at: at,
        password_hash: user.passwordHash,
        blocked_at: null,
        blocked_until: null,
        block_reason: null,
        password_version: 1,
        has_totp: false,
        has_passkey: false,
        ip_known: false,
      };
    },

    /** Belongs into a transaction. @throws ApiError email_taken */
    async add(project: number, account: Account): Promise<void> {
      const { numInsertedOrUpdatedRows: added } = await queries
        .insertInto('users')
        .values({
          project_number: project,
          id: account.id,
          email: account.email,
          name: account.name,
          role: account.role,
          password_hash: account.password_hash,
          email_verified: account.email_verified,
          is_guest: account.is_guest,
          created_at: account.created_at,
          updated_at: account.updated_at,
        })
        .onConflict((conflict) => conflict.constraint('users_email').doNothing())
        .executeTakeFirstOrThrow();
      if (added === 0n) throw emailTaken();
      if (!account.is_guest) await events.tellCreated(project, account);
    },

    tellCreated: events.tellCreated,
    publishChange: events.publishChange,
    tellReleased: events.tellReleased,

    /** Says once more whose verified address this is, if it is anybody's. */
    async tellVerified(project: number, email: string): Promise<void> {
      const id = await reads.findHolder(project, email);
      if (id !== null) await events.publishVerified(project, { id, email });
    },

    /** @throws ApiError not_found, email_taken */
    update: (project: number, id: string, changes: UserChanges): Promise<UserRow> =>
      database.transaction(async () => {
        if (!isUuid(id)) throw unknownUser();
        const { email, name, avatar, profile, publicProfile, role, emailVerified, block } = changes;
        const {
          was_verified: wasVerified,
          old_email: oldEmail,
          ...row
        } = await queries
          .updateTable('users')
          .set({
            ...(email !== undefined && { email }),
            ...(name !== undefined && { name }),
            ...(avatar !== undefined && { avatar }),
            ...(profile !== undefined && { profile: JSON.stringify(profile) }),
            ...(publicProfile !== undefined && { public_profile: JSON.stringify(publicProfile) }),
            ...(role !== undefined && { role }),
            ...(emailVerified !== undefined && { email_verified: emailVerified }),
            ...(block !== undefined && {
              blocked_at: block && new Date(now()),
              blocked_until: block?.until ?? null,
              block_reason: block?.reason ?? null,
            }),
            updated_at: new Date(now()),
          })
          .where('project_number', '=', project)
          .where('id', '=', id)
          .returning(userColumns)
          .returning([
            sql<boolean>`old.email_verified`.as('was_verified'),
            sql<string | null>`old.email`.as('old_email'),
          ])
          .$narrowType<UserValues>()
          .executeTakeFirstOrThrow(unknownUser)
          .catch((error: unknown) => {
            throw isEmailTaken(error) ? emailTaken() : error;
          });
        if (role !== undefined || block !== undefined || emailVerified === false)
          await events.publishChange(project, [id]);
        if (project === platformProject.number && emailVerified)
          await outbox.append('owner.verified', { ownerId: id });
        else if (emailVerified) {
          await events.publishVerified(project, { id, email: requireAddress(row) });
          if (!wasVerified || oldEmail !== row.email)
            await events.tell(project, 'user.verified', row);
        } else if (emailVerified === false && row.email !== null)
          await events.tellReleased(project, row.email);
        return row;
      }),

    erase: createEraseUser({ database, outbox, events, blockedAddresses, now }),
  };
};

export type Users = ReturnType<typeof createUsers>;
