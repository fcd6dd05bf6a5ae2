import { ApiError, type EventPayloads, type Factor } from '@backlot/contract';
import { createQueries, type Database, type Outbox } from '@backlot/database';
import type { DB as Tables } from '../tables.ts';
import { type RecoveryCodes, withoutSpaces } from './recovery-codes.ts';
import { type Totp, type Totps, unconfirmed } from './totp.ts';

/** A code that is right as far as is known: `use` takes it, once. */
export interface CheckedCode {
  /** False where another call has used it meanwhile. Belongs into the transaction of what the code allows. */
  use(): Promise<boolean>;
}

export const wrongCode = () =>
  new ApiError('invalid_credentials', 'The code is wrong, or was used already.');

const unknownFactor = () => new ApiError('not_found', 'There is no such factor.');

const isOfApp = (code: string) => /^\d{6}$/.test(code);

interface FactorOptions {
  database: Database;
  outbox: Outbox<EventPayloads>;
  totps: Totps;
  recoveryCodes: RecoveryCodes;
}

/** What an account has beside its password. */
export const createFactors = ({ database, outbox, totps, recoveryCodes }: FactorOptions) => {
  const queries = createQueries<Tables>(database);

  const end = async (
    table: 'factors' | 'recovery_codes' | 'factor_tokens' | 'remembered_devices' | 'passkeys',
    project: number,
    userId: string,
  ): Promise<void> => {
    await queries
      .deleteFrom(table)
      .where('project_number', '=', project)
      .where('user_id', '=', userId)
      .execute();
  };

  const tellGateways = (project: number, userId: string) =>
    outbox.append('user.changed', { projectNumber: project, userIds: [userId] });

  const codeOfApp = (project: number, userId: string, totp: Totp, code: string) => {
    const step = totps.stepOf(project, userId, totp, code);
    if (step === undefined) return undefined;
    return { use: () => totps.use(project, userId, totp, step) };
  };

  /** Ends what depends on the authenticator app. Belongs into a transaction that has locked the user. */
  const endTotp = async (project: number, userId: string): Promise<void> => {
    for (const table of ['factors', 'recovery_codes', 'remembered_devices'] as const)
      await end(table, project, userId);
  };

  return {
    async list(
      project: number,
      userId: string,
    ): Promise<{ items: Factor[]; recoveryCodesLeft: number }> {
      const totp = await totps.find(project, userId);
      if (!totp?.isConfirmed) return { items: [], recoveryCodesLeft: 0 };
      const { id, createdAt, lastUsedAt } = totp;
      const shown: Factor = {
        id,
        type: 'totp',
        createdAt: createdAt.toISOString(),
        lastUsedAt: lastUsedAt?.toISOString() ?? null,
      };
      const recoveryCodesLeft = await recoveryCodes.countLeft(project, userId);
      return { items: [shown], recoveryCodesLeft };
    },

    /** Undefined where the code is wrong. @throws ApiError secrets_unreadable */
    async check(project: number, userId: string, typed: string): Promise<CheckedCode | undefined> {
      const code = withoutSpaces(typed);
      if (isOfApp(code)) {
        const totp = await totps.find(project, userId);
        return totp?.isConfirmed ? codeOfApp(project, userId, totp, code) : undefined;
      }
      if (!(await recoveryCodes.isGood(project, userId, code))) return undefined;
      return { use: () => recoveryCodes.use(project, userId, code) };
    },

    /** Of the app that is being set up. @throws ApiError conflict, secrets_unreadable */
    async checkFirst(
      project: number,
      userId: string,
      typed: string,
    ): Promise<CheckedCode | undefined> {
      const totp = await totps.find(project, userId);
      if (!totp || totp.isConfirmed) throw unconfirmed();
      return codeOfApp(project, userId, totp, withoutSpaces(typed));
    },

    /**
     * Sign-ins that are under way get no session: they have not been asked for a code. Belongs into the
     * transaction of the first code, which has locked the user.
     */
    async begin(project: number, userId: string, codes: readonly string[]): Promise<void> {
      await recoveryCodes.store(project, userId, codes);
      await queries
        .updateTable('users')
        .set((user) => ({ password_version: user('password_version', '+', 1) }))
        .where('project_number', '=', project)
        .where('id', '=', userId)
        .execute();
    },

    /** The session has shown a second factor. Belongs into the transaction of that. */
    async markSession(project: number, userId: string, sessionId: string): Promise<void> {
      await queries
        .updateTable('sessions')
        .set({ has_second_factor: true })
        .where('project_number', '=', project)
        .where('id', '=', sessionId)
        .where('user_id', '=', userId)
        .execute();
      await tellGateways(project, userId);
    },

    /** @throws ApiError not_found */
    async require(project: number, userId: string, id: string): Promise<void> {
      const totp = await totps.find(project, userId);
      if (!totp?.isConfirmed || totp.id !== id) throw unknownFactor();
    },

    endTotp,

    /** Passkeys too. Belongs into a transaction that has locked the user. */
    async endAll(project: number, userId: string): Promise<void> {
      await endTotp(project, userId);
      for (const table of ['factor_tokens', 'passkeys'] as const) await end(table, project, userId);
    },
  };
};

export type Factors = ReturnType<typeof createFactors>;
