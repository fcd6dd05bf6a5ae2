import { createHash, randomBytes } from 'node:crypto';
import { createQueries, type Database } from '@backlot/database';
import type { DB as Tables } from '../tables.ts';
import { isVerifierOf, usedCode } from './flows.ts';

const codeMs = 60 * 1000;
const codeBytes = 32;
const digest = (code: string) => createHash('sha256').update(code).digest();

/** As a token names it. */
export interface HandedSession {
  id: string;
  userId: string;
  /** Epoch milliseconds. */
  expiresAt: number;
  hasSecondFactor: boolean;
}

/** Gives a session of our own page to the app that has led there: by a code that its verifier alone opens. */
export const createHandovers = (database: Database, now: () => number) => {
  const queries = createQueries<Tables>(database);

  /** Answers whether there was such a one. */
  const end = async (project: number, code: string): Promise<boolean> => {
    const { numDeletedRows } = await queries
      .deleteFrom('handovers')
      .where('project_number', '=', project)
      .where('code_hash', '=', digest(code))
      .where('expires_at', '>', new Date(now()))
      .executeTakeFirst();
    return numDeletedRows > 0n;
  };

  return {
    /** @returns the code, which takes the place of an earlier one */
    async begin(project: number, sessionId: string, challenge: string): Promise<string> {
      const code = randomBytes(codeBytes).toString('base64url');
      const values = {
        code_hash: digest(code),
        challenge,
        expires_at: new Date(now() + codeMs),
      };
      await queries
        .insertInto('handovers')
        .values({ project_number: project, session_id: sessionId, ...values })
        .onConflict((conflict) =>
          conflict.columns(['project_number', 'session_id']).doUpdateSet(values),
        )
        .execute();
      return code;
    },

    /** A wrong verifier ends it. @throws ApiError invalid_link */
    async read(
      project: number,
      { code, verifier }: { code: string; verifier: string },
    ): Promise<HandedSession> {
      const found = await queries
        .selectFrom('handovers as h')
        .innerJoin('sessions as s', (join) =>
          join
            .onRef('s.project_number', '=', 'h.project_number')
            .onRef('s.id', '=', 'h.session_id'),
        )
        .select(['s.id', 's.user_id', 's.expires_at', 's.has_second_factor', 'h.challenge'])
        .where('h.project_number', '=', project)
        .where('h.code_hash', '=', digest(code))
        .where('h.expires_at', '>', new Date(now()))
        .where('s.expires_at', '>', new Date(now()))
        .executeTakeFirst();
      if (!found) throw usedCode();
      if (!isVerifierOf(found.challenge, verifier)) {
        await end(project, code);
        throw usedCode();
      }
      return {
        id: found.id,
        userId: found.user_id,
        expiresAt: found.expires_at.getTime(),
        hasSecondFactor: found.has_second_factor,
      };
    },

    /** One of several parallel calls succeeds. @throws ApiError invalid_link */
    async use(project: number, code: string): Promise<void> {
      if (!(await end(project, code))) throw usedCode();
    },
  };
};

export type Handovers = ReturnType<typeof createHandovers>;
