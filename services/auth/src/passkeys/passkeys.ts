import { ApiError, isUuid, type Passkey } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import type { WebAuthnCredential } from '@simplewebauthn/server';
import type { Selectable } from 'kysely';
import { uuidv7 } from 'uuidv7';
import type { Passkey as PasskeyTable, DB as Tables } from '../tables.ts';

type PasskeyRow = Pick<
  Selectable<PasskeyTable>,
  'id' | 'name' | 'host' | 'created_at' | 'last_used_at'
>;

/** One that signs in, with whose it is. */
export interface KnownPasskey {
  id: string;
  userId: string;
  host: string;
  credential: WebAuthnCredential;
}

const maxPasskeys = 20;
const shownColumns = ['id', 'name', 'host', 'created_at', 'last_used_at'] as const;

const unknownPasskey = () => new ApiError('not_found', 'There is no such passkey.');

const tooMany = () =>
  new ApiError('limit_reached', `A user has ${maxPasskeys} passkeys at most: remove one.`);

const present = (row: PasskeyRow): Passkey => ({
  id: row.id,
  name: row.name,
  host: row.host,
  createdAt: row.created_at.toISOString(),
  lastUsedAt: row.last_used_at?.toISOString() ?? null,
});

export const createPasskeys = (database: Database, now: () => number) => {
  const queries = createQueries<Tables>(database);

  const list = async (project: number, userId: string): Promise<Passkey[]> => {
    const rows = await queries
      .selectFrom('passkeys')
      .select(shownColumns)
      .where('project_number', '=', project)
      .where('user_id', '=', userId)
      .orderBy('id', 'desc')
      .limit(maxPasskeys)
      .execute();
    return rows.map(present);
  };

  /** Of a user, whose browsers make no second one on the same device. @throws ApiError limit_reached */
  const credentials = async (project: number, userId: string) => {
    const rows = await queries
      .selectFrom('passkeys')
      .select(['credential_id', 'transports'])
      .where('project_number', '=', project)
      .where('user_id', '=', userId)
      .limit(maxPasskeys)
      .execute();
    if (rows.length >= maxPasskeys) throw tooMany();
    return rows.map(({ credential_id: id, transports }) => ({
      id: id.toString('base64url'),
      transports,
    }));
  };

  return {
    list,
    credentials,

    /** Belongs into a transaction that has locked the user. @throws ApiError limit_reached, conflict */
    async add(
      project: number,
      userId: string,
      { credential, host, name }: { credential: WebAuthnCredential; host: string; name: string },
    ): Promise<Passkey> {
      await credentials(project, userId);
      const row = await queries
        .insertInto('passkeys')
        .values({
          project_number: project,
          id: uuidv7(),
          user_id: userId,
          credential_id: Buffer.from(credential.id, 'base64url'),
          public_key: Buffer.from(credential.publicKey),
          counter: credential.counter,
          transports: credential.transports ?? [],
          host,
          name,
          created_at: new Date(now()),
        })
        .onConflict((conflict) => conflict.constraint('passkeys_credential').doNothing())
        .returning(shownColumns)
        .executeTakeFirst();
      if (!row) throw new ApiError('conflict', 'This passkey is kept already.');
      return present(row);
    },

    /** @throws ApiError not_found */
    async rename(project: number, userId: string, id: string, name: string): Promise<Passkey> {
      if (!isUuid(id)) throw unknownPasskey();
      const row = await queries
        .updateTable('passkeys')
        .set({ name })
        .where('project_number', '=', project)
        .where('user_id', '=', userId)
        .where('id', '=', id)
        .returning(shownColumns)
        .executeTakeFirstOrThrow(unknownPasskey);
      return present(row);
    },

    /** @returns its name @throws ApiError not_found */
    async remove(project: number, userId: string, id: string): Promise<string> {
      if (!isUuid(id)) throw unknownPasskey();
      const { name } = await queries
        .deleteFrom('passkeys')
        .where('project_number', '=', project)
        .where('user_id', '=', userId)
        .where('id', '=', id)
        .returning('name')
        .executeTakeFirstOrThrow(unknownPasskey);
      return name;
    },

    /** @param credentialId base64url */
    async find(project: number, credentialId: string): Promise<KnownPasskey | undefined> {
      const row = await queries
        .selectFrom('passkeys')
        .select(['id', 'user_id', 'host', 'public_key', 'counter'])
        .where('project_number', '=', project)
        .where('credential_id', '=', Buffer.from(credentialId, 'base64url'))
        .executeTakeFirst();
      if (!row) return undefined;
      const { id, user_id: userId, host, public_key: publicKey, counter } = row;
      const credential = { id: credentialId, publicKey: new Uint8Array(publicKey), counter };
      return { id, userId, host, credential };
    },

    /**
     * False where it is gone, or its authenticator has counted further: somebody has copied it. Those that do
     * not count say 0 always. Belongs into the transaction of the sign-in.
     */
    async use(project: number, id: string, counter: number): Promise<boolean> {
      const { numUpdatedRows } = await queries
        .updateTable('passkeys')
        .set({ counter, last_used_at: new Date(now()) })
        .where('project_number', '=', project)
        .where('id', '=', id)
        .where(({ and, eb, or }) =>
          or([eb('counter', '<', counter), and([eb('counter', '=', 0), eb.val(counter === 0)])]),
        )
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
  };
};

export type Passkeys = ReturnType<typeof createPasskeys>;
