import { createHmac, type KeyObject, randomInt, timingSafeEqual } from 'node:crypto';
import type { EventPayloads } from '@backlot/contract';
import { createQueries, type Database, type Outbox } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import { hashIp } from '../counters.ts';
import { digestToken, newToken } from '../links/links.ts';
import { writeMail } from '../links/silent-mail.ts';
import type { DB as Tables } from '../tables.ts';

const codeLifetimeMs = 10 * 60_000;
/** Of one code, right ones included. */
const guessesPerCode = 5;

const newCode = () => String(randomInt(1_000_000)).padStart(6, '0');

interface CodeOptions {
  database: Database;
  outbox: Outbox<EventPayloads>;
  /** The first one writes, all are good. */
  codeKeys: readonly KeyObject[];
  now: () => number;
}

/** What was mailed: the code with its address, or the token of the link. */
export type MailedProof = { email: string; code: string } | { token: string };

/** Codes by mail. An address has one live code, whether it has an account or not. */
export const createCodes = ({ database, outbox, codeKeys, now }: CodeOptions) => {
  const queries = createQueries<Tables>(database);

  const digests = (project: number, email: string, code: string): Buffer[] =>
    codeKeys.map((key) =>
      createHmac('sha256', key)
        .update(JSON.stringify([project, email, code]))
        .digest(),
    );

  const live = (project: number) =>
    queries
      .deleteFrom('sign_in_codes')
      .where('project_number', '=', project)
      .where('expires_at', '>', new Date(now()));

  return {
    /** Replaces the code of the address. Where it opens nothing all is the same but the mail. */
    async send(
      { project, ip, userId }: Pick<Identity, 'project' | 'ip' | 'userId'>,
      to: { email: string; name: string | null },
      opensSomething: boolean,
    ): Promise<void> {
      const code = newCode();
      const token = newToken();
      const [codeDigest] = digests(project.number, to.email, code);
      if (!codeDigest) throw new Error('No key to keep codes with.');
      const expiresAt = new Date(now() + codeLifetimeMs);
      const change = {
        code_digest: codeDigest,
        token_hash: digestToken(token),
        guesses: 0,
        asked_by: userId,
        expires_at: expiresAt,
      };
      await database.transaction(async () => {
        await queries
          .insertInto('sign_in_codes')
          .values({ project_number: project.number, email: to.email, ...change })
          .onConflict((conflict) =>
            conflict.columns(['project_number', 'email']).doUpdateSet(change),
          )
          .execute();
        await writeMail(database, opensSomething, () =>
          outbox.append('mail.requested', {
            projectId: project.id,
            projectNumber: project.number,
            projectName: project.name,
            ipHash: hashIp(ip).toString('hex'),
            to: to.email,
            name: to.name,
            template: 'sign-in-code',
            token,
            code,
            expiresAt: expiresAt.toISOString(),
          }),
        );
      });
    },

    /** Counts it, outside of the surrounding transaction, before it is looked at. */
    async isRight(project: number, email: string, code: string): Promise<boolean> {
      const row = await database.detached(() =>
        queries
          .updateTable('sign_in_codes')
          .set((column) => ({ guesses: column('guesses', '+', 1) }))
          .where('project_number', '=', project)
          .where('email', '=', email)
          .where('guesses', '<', guessesPerCode)
          .where('expires_at', '>', new Date(now()))
          .returning('code_digest')
          .executeTakeFirst(),
      );
      const stored = row?.code_digest ?? Buffer.alloc(32);
      const isEqual = digests(project, email, code).map((digest) =>
        timingSafeEqual(digest, stored),
      );
      return row !== undefined && isEqual.includes(true);
    },

    /** To which address the link went. */
    async findAddress(project: number, token: string): Promise<string | undefined> {
      const row = await queries
        .selectFrom('sign_in_codes')
        .select('email')
        .where('project_number', '=', project)
        .where('token_hash', '=', digestToken(token))
        .where('expires_at', '>', new Date(now()))
        .executeTakeFirst();
      return row?.email;
    },

    /**
     * Uses it up; one of several parallel calls succeeds. Belongs into the transaction of what it opens.
     * A code has to have been guessed right before.
     * @returns who has asked for it; undefined where it is good no more
     */
    async use(
      project: number,
      proof: MailedProof,
    ): Promise<{ asked_by: string | null } | undefined> {
      const code =
        'token' in proof
          ? live(project).where('token_hash', '=', digestToken(proof.token))
          : live(project)
              .where('email', '=', proof.email)
              .where('code_digest', 'in', digests(project, proof.email, proof.code));
      return code.returning('asked_by').executeTakeFirst();
    },
  };
};

export type Codes = ReturnType<typeof createCodes>;
