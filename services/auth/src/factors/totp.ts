import { ApiError } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import { SealBroken, type Sealer } from '@backlot/sealing';
import * as otpauth from 'otpauth';
import { uuidv7 } from 'uuidv7';
import type { DB as Tables } from '../tables.ts';

/** An authenticator app of a user, whose secret is sealed. */
export interface Totp {
  id: string;
  isConfirmed: boolean;
  sealedSecret: Buffer;
  /** Of the code that was used last. */
  lastStep: number;
  createdAt: Date;
  lastUsedAt: Date | null;
}

/** For how long a secret waits for its first code. */
const setUpMs = 3_600_000;
const secretBytes = 20;
const digits = 6;
const periodSeconds = 30;
/** Codes of the neighbouring steps are good too: clocks differ. */
const window = 1;

export const toContext = (project: number, userId: string) => `${project}/${userId}/totp`;

export const unconfirmed = () =>
  new ApiError('conflict', 'No authenticator app waits to be confirmed.', {
    hint: 'POST /auth/factors/totp answers a secret, whose first code is confirmed within an hour.',
  });

const hasOne = () =>
  new ApiError('conflict', 'This account has an authenticator app already.', {
    hint: 'DELETE /auth/factors/<id> {"code":"…"} forgets it; GET /auth/factors lists it.',
  });

interface TotpOptions {
  database: Database;
  sealer: Sealer;
  now: () => number;
}

/** Codes of authenticator apps (RFC 6238: SHA-1, 6 digits, 30 s). */
export const createTotps = ({ database, sealer, now }: TotpOptions) => {
  const queries = createQueries<Tables>(database);

  const open = (project: number, userId: string, sealed: Buffer): string => {
    try {
      return sealer.open(sealed, toContext(project, userId));
    } catch (cause) {
      if (!(cause instanceof SealBroken)) throw cause;
      throw new ApiError('secrets_unreadable', 'Codes can not be checked right now.', { cause });
    }
  };

  /** Undefined without one, and where one was never confirmed in time. */
  const find = async (project: number, userId: string): Promise<Totp | undefined> => {
    const row = await queries
      .selectFrom('factors')
      .select(['id', 'sealed_secret', 'last_step', 'created_at', 'last_used_at', 'expires_at'])
      .where('project_number', '=', project)
      .where('user_id', '=', userId)
      .where(({ eb, or }) =>
        or([eb('expires_at', 'is', null), eb('expires_at', '>', new Date(now()))]),
      )
      .executeTakeFirst();
    return (
      row && {
        id: row.id,
        isConfirmed: row.expires_at === null,
        sealedSecret: row.sealed_secret,
        lastStep: row.last_step,
        createdAt: row.created_at,
        lastUsedAt: row.last_used_at,
      }
    );
  };

  return {
    find,

    /**
     * A secret in place of one that was not confirmed. Belongs into a transaction that has locked the user.
     * @param account what an app shows
     * @throws ApiError conflict
     */
    async setUp(
      project: number,
      userId: string,
      account: { issuer: string; label: string },
    ): Promise<{ secret: string; uri: string }> {
      if ((await find(project, userId))?.isConfirmed) throw hasOne();
      const secret = new otpauth.Secret({ size: secretBytes });
      const change = {
        id: uuidv7(),
        sealed_secret: sealer.seal(secret.base32, toContext(project, userId)),
        last_step: 0,
        created_at: new Date(now()),
        expires_at: new Date(now() + setUpMs),
      };
      await queries
        .insertInto('factors')
        .values({ project_number: project, user_id: userId, ...change })
        .onConflict((conflict) => conflict.constraint('factors_user').doUpdateSet(change))
        .execute();
      const shown = { ...account, secret, digits, period: periodSeconds, algorithm: 'SHA1' };
      return { secret: secret.base32, uri: new otpauth.TOTP(shown).toString() };
    },

    /** The step of a code that is right and later than the last used one; else undefined. */
    stepOf(project: number, userId: string, totp: Totp, code: string): number | undefined {
      const secret = otpauth.Secret.fromBase32(open(project, userId, totp.sealedSecret));
      const timestamp = now();
      const delta = otpauth.TOTP.validate({
        secret,
        token: code,
        digits,
        period: periodSeconds,
        window,
        timestamp,
      });
      if (delta === null) return undefined;
      const step = otpauth.TOTP.counter({ period: periodSeconds, timestamp }) + delta;
      return step > totp.lastStep ? step : undefined;
    },

    /**
     * False where it, or a later code, was used before, or the app was forgotten. Belongs into the transaction of
     * what the code allows.
     */
    async use(project: number, userId: string, totp: Totp, step: number): Promise<boolean> {
      const { numUpdatedRows } = await queries
        .updateTable('factors')
        .set({
          last_step: step,
          last_used_at: new Date(now()),
          expires_at: null,
        })
        .where('project_number', '=', project)
        .where('user_id', '=', userId)
        .where('id', '=', totp.id)
        .where('last_step', '<', step)
        .where('expires_at', totp.isConfirmed ? 'is' : 'is not', null)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
  };
};

export type Totps = ReturnType<typeof createTotps>;
