import { createHash, randomBytes } from 'node:crypto';
import { createQueries, type Database } from '@backlot/database';
import type { DB as Tables } from '../tables.ts';

const howMany = 10;
/** 80 bits: nobody tries as many, of a stolen table neither. */
const codeBytes = 10;

/** Four groups of five: `3f0a1-9c2de-…`. */
const newCode = () =>
  randomBytes(codeBytes)
    .toString('hex')
    .replace(/.{5}(?=.)/g, '$&-');

/** @param code as `withoutSpaces` leaves it */
const hash = (userId: string, code: string) =>
  createHash('sha256').update(`${userId}\n${code}`).digest();

/** Codes are typed with the spaces and dashes that stand between their groups, or without. */
export const withoutSpaces = (code: string): string => code.replace(/[\s-]/g, '').toLowerCase();

/** Stand in for a lost authenticator app; each is good once. */
export const createRecoveryCodes = (database: Database) => {
  const queries = createQueries<Tables>(database);
  const ofUser = (project: number, userId: string) =>
    queries
      .deleteFrom('recovery_codes')
      .where('project_number', '=', project)
      .where('user_id', '=', userId);

  return {
    create: (): string[] => Array.from({ length: howMany }, newCode),

    /** In place of those before. Belongs into a transaction that has locked the user. */
    async store(project: number, userId: string, codes: readonly string[]): Promise<void> {
      await ofUser(project, userId).execute();
      const values = codes.map((code) => ({
        project_number: project,
        user_id: userId,
        code_hash: hash(userId, withoutSpaces(code)),
      }));
      await queries.insertInto('recovery_codes').values(values).execute();
    },

    async isGood(project: number, userId: string, code: string): Promise<boolean> {
      const found = await queries
        .selectFrom('recovery_codes')
        .select('user_id')
        .where('project_number', '=', project)
        .where('user_id', '=', userId)
        .where('code_hash', '=', hash(userId, code))
        .executeTakeFirst();
      return found !== undefined;
    },

    /** False where it was used meanwhile. Belongs into the transaction of what the code allows. */
    async use(project: number, userId: string, code: string): Promise<boolean> {
      const { numDeletedRows } = await ofUser(project, userId)
        .where('code_hash', '=', hash(userId, code))
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },

    async countLeft(project: number, userId: string): Promise<number> {
      const { left } = await queries
        .selectFrom('recovery_codes')
        .select(({ fn }) => fn.countAll<number>().as('left'))
        .where('project_number', '=', project)
        .where('user_id', '=', userId)
        .executeTakeFirstOrThrow();
      return Number(left);
    },
  };
};

export type RecoveryCodes = ReturnType<typeof createRecoveryCodes>;
