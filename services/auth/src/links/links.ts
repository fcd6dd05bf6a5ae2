import { createHash, randomBytes } from 'node:crypto';
import { ApiError, type EventPayloads } from '@backlot/contract';
import { createQueries, type Database, type Outbox } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import type { NotNull } from 'kysely';
import { uuidv7 } from 'uuidv7';
import type { AuthConfig } from '../config.ts';
import { hashIp } from '../counters.ts';
import type { DB as Tables } from '../tables.ts';
import type { Account, UserRow } from '../users/user-row.ts';
import type { Users } from '../users/users.ts';
import { writeMail } from './silent-mail.ts';

export type LinkPurpose = 'verify' | 'reset';

interface Link {
  token: string;
  expiresAt: Date;
}

/** Who asks, and from where. */
type Caller = Pick<Identity, 'project' | 'ip'>;

interface LinkOptions {
  database: Database;
  outbox: Outbox<EventPayloads>;
  users: Users;
  now: () => number;
  config: Pick<AuthConfig, 'verifyTokenMs' | 'resetTokenMs'>;
}

/** Whom a mail is for. */
export interface Addressee {
  id: string;
  email: string;
  /** The name of who has not proved the address is in no mail: anybody may sign up with another's. */
  email_verified: boolean;
  name: string | null;
}

/** 32 bytes, base64url; only its digest is kept. */
export const newToken = (): string => randomBytes(32).toString('base64url');
export const digestToken = (token: string): Buffer => createHash('sha256').update(token).digest();

export const invalidLink = () =>
  new ApiError('invalid_link', 'This link was used already or has expired. Ask for a new one.');

/** One-time links in mails: one live link per user and purpose. */
export const createLinks = ({ database, outbox, users, now, config }: LinkOptions) => {
  const queries = createQueries<Tables>(database);
  const purposes = {
    verify: { template: 'verify-email', lifetimeMs: config.verifyTokenMs },
    reset: { template: 'reset-password', lifetimeMs: config.resetTokenMs },
  } as const;

  const create = async (
    project: number,
    userId: string | null,
    purpose: LinkPurpose,
  ): Promise<Link> => {
    const token = newToken();
    const expiresAt = new Date(now() + purposes[purpose].lifetimeMs);
    const change = { token_hash: digestToken(token), expires_at: expiresAt };
    await queries
      .insertInto('one_time_tokens')
      .values({ project_number: project, user_id: userId, purpose, ...change })
      .onConflict((conflict) => conflict.constraint('one_time_tokens_user').doUpdateSet(change))
      .execute();
    return { token, expiresAt };
  };

  const requestMail = (
    { project, ip }: Caller,
    purpose: LinkPurpose,
    to: Omit<Addressee, 'id'>,
    { token, expiresAt }: Link,
  ) =>
    outbox.append('mail.requested', {
      projectId: project.id,
      projectNumber: project.number,
      projectName: project.name,
      ipHash: hashIp(ip).toString('hex'),
      to: to.email,
      name: to.email_verified ? to.name : null,
      template: purposes[purpose].template,
      token,
      expiresAt: expiresAt.toISOString(),
    });

  return {
    /** Mails a link that replaces the user's older one. Belongs into a transaction. */
    async send(caller: Caller, purpose: LinkPurpose, user: Addressee): Promise<void> {
      const link = await create(caller.project.number, user.id, purpose);
      await requestMail(caller, purpose, user, link);
    },

    /**
     * The same, with the same statements for an address that nobody has: its link belongs to nobody,
     * and its mail is rolled back.
     */
    async sendIfKnown(
      caller: Caller,
      purpose: LinkPurpose,
      email: string,
      user: UserRow | undefined,
    ): Promise<void> {
      const { number } = caller.project;
      await database.transaction(async () => {
        const link = await create(number, user?.id ?? null, purpose);
        // Its address may have changed since it was read.
        const current = await users.find(number, user?.id ?? uuidv7());
        const isStill = current?.email === email;
        const { name = null, email_verified = false } = current ?? {};
        const to = { email, email_verified, name };
        await writeMail(database, isStill, () => requestMail(caller, purpose, to, link));
      });
    },

    /** Whose link it is, without using it up. @throws ApiError invalid_link */
    async findAccount(project: number, token: string, purpose: LinkPurpose): Promise<Account> {
      const row = await queries
        .selectFrom('one_time_tokens')
        .select('user_id')
        .where('project_number', '=', project)
        .where('token_hash', '=', digestToken(token))
        .where('purpose', '=', purpose)
        .where('expires_at', '>', new Date(now()))
        .where('user_id', 'is not', null)
        .$narrowType<{ user_id: NotNull }>()
        .executeTakeFirst();
      const account = row && (await users.find(project, row.user_id));
      if (!account) throw invalidLink();
      return account;
    },

    /**
     * Uses the link up and locks its account; one of several parallel calls succeeds. Belongs into the
     * transaction of what the link allows.
     * @throws ApiError invalid_link
     */
    async use(
      project: number,
      userId: string,
      token: string,
      purpose: LinkPurpose,
    ): Promise<Account> {
      const account = await users.lock(project, userId);
      const { numDeletedRows } = await queries
        .deleteFrom('one_time_tokens')
        .where('project_number', '=', project)
        .where('token_hash', '=', digestToken(token))
        .where('purpose', '=', purpose)
        .where('expires_at', '>', new Date(now()))
        .where('user_id', '=', userId)
        .executeTakeFirst();
      if (!account || numDeletedRows === 0n) throw invalidLink();
      return account;
    },

    async revoke(project: number, userId: string, purpose: LinkPurpose): Promise<void> {
      await queries
        .deleteFrom('one_time_tokens')
        .where('project_number', '=', project)
        .where('user_id', '=', userId)
        .where('purpose', '=', purpose)
        .execute();
    },
  };
};

export type Links = ReturnType<typeof createLinks>;
