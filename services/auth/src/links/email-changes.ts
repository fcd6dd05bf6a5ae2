import type { EventPayloads, Payload } from '@backlot/contract';
import { createQueries, type Database, type Outbox } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import type { AuthConfig } from '../config.ts';
import { hashIp } from '../counters.ts';
import type { DB as Tables } from '../tables.ts';
import { type Account, requireAddress } from '../users/user-row.ts';
import type { Users } from '../users/users.ts';
import { digestToken, invalidLink, type Links, newToken } from './links.ts';

interface EmailChangeOptions {
  database: Database;
  outbox: Outbox<EventPayloads>;
  users: Users;
  links: Links;
  now: () => number;
  config: Pick<AuthConfig, 'verifyTokenMs'>;
}

/** Changes of the address of an account: links to the present and the new one, both to be followed. */
export const createEmailChanges = (options: EmailChangeOptions) => {
  const { database, outbox, users, links, now, config } = options;
  const queries = createQueries<Tables>(database);

  const revoke = async (project: number, userId: string): Promise<void> => {
    await queries
      .deleteFrom('email_changes')
      .where('project_number', '=', project)
      .where('user_id', '=', userId)
      .execute();
  };

  /** Uses the link up. Answers the new address once both links have been. @throws ApiError invalid_link */
  const follow = async (
    project: number,
    userId: string,
    tokenHash: Buffer,
  ): Promise<string | undefined> => {
    const [followed] = await database.query<{ email: string; is_complete: boolean }>(
      `UPDATE email_changes SET new_token_hash = nullif(new_token_hash, $3), old_token_hash = nullif(old_token_hash, $3)
        WHERE project_number = $1 AND user_id = $2 AND expires_at > $4 AND (new_token_hash = $3 OR old_token_hash = $3)
       RETURNING email, new_token_hash IS NULL AND old_token_hash IS NULL AS is_complete`,
      [project, userId, tokenHash, new Date(now())],
    );
    if (!followed) throw invalidLink();
    return followed.is_complete ? followed.email : undefined;
  };

  return {
    revoke,

    /** Whose link it is, and to which address it went. @throws ApiError invalid_link */
    async findLink(
      project: number,
      token: string,
    ): Promise<{ account: Account; isToNewAddress: boolean }> {
      const tokenHash = digestToken(token);
      const change = await queries
        .selectFrom('email_changes')
        .select(['user_id', 'new_token_hash'])
        .where('project_number', '=', project)
        .where(({ eb, or }) =>
          or([eb('new_token_hash', '=', tokenHash), eb('old_token_hash', '=', tokenHash)]),
        )
        .executeTakeFirst();
      const account = change && (await users.find(project, change.user_id));
      if (!account) throw invalidLink();
      return { account, isToNewAddress: change.new_token_hash?.equals(tokenHash) === true };
    },

    /**
     * Mails the links; those of an older change end. It is the same whether somebody has the new address
     * or not. A present address that was never verified gets none: it may be a stranger's. Belongs into a
     * transaction that has locked the account.
     */
    async request({ project, ip }: Identity, account: Account, email: string): Promise<void> {
      const newLink = newToken();
      const oldLink = account.email_verified ? newToken() : null;
      const expiresAt = new Date(now() + config.verifyTokenMs);
      const change = {
        email,
        new_token_hash: digestToken(newLink),
        old_token_hash: oldLink === null ? null : digestToken(oldLink),
        expires_at: expiresAt,
      };
      await queries
        .insertInto('email_changes')
        .values({ project_number: project.number, user_id: account.id, ...change })
        .onConflict((conflict) =>
          conflict.columns(['project_number', 'user_id']).doUpdateSet(change),
        )
        .execute();
      const requestMail = (
        mail: Pick<Payload<'mail.requested'>, 'to' | 'name' | 'template' | 'token' | 'newEmail'>,
      ) =>
        outbox.append('mail.requested', {
          projectId: project.id,
          projectNumber: project.number,
          projectName: project.name,
          ipHash: hashIp(ip).toString('hex'),
          ...mail,
          expiresAt: expiresAt.toISOString(),
        });
      await requestMail({ to: email, name: null, template: 'confirm-new-email', token: newLink });
      if (oldLink === null) return;
      const template = 'allow-email-change';
      const to = requireAddress(account);
      await requestMail({ to, name: account.name, template, token: oldLink, newEmail: email });
    },

    /**
     * Whether the address has changed with this link. What was mailed to the former address opens nothing
     * any more. @throws ApiError invalid_link, email_taken
     */
    confirm: (project: number, userId: string, token: string): Promise<boolean> =>
      database.transaction(async () => {
        const former = await users.lock(project, userId);
        // The address of a block stays with it; the link is good once the block is over.
        if (former && users.present(former).blocked) throw invalidLink();
        const email = await follow(project, userId, digestToken(token));
        if (email === undefined) return false;
        // First: whoever asks for a link meanwhile waits for it, and then sees the new address.
        await users.update(project, userId, { email, emailVerified: true });
        if (former?.email_verified && former.email !== null)
          await users.tellReleased(project, former.email);
        for (const purpose of ['verify', 'reset'] as const)
          await links.revoke(project, userId, purpose);
        await revoke(project, userId);
        return true;
      }),
  };
};

export type EmailChanges = ReturnType<typeof createEmailChanges>;
