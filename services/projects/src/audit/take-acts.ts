import { randomBytes } from 'node:crypto';
import type { PlatformActed } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { firstHash, hashDetails, hashLine, platformChain } from './chain.ts';

interface ChainEnd {
  last_seq: number;
  last_hash: Buffer;
}

const saltBytes = 16;

/** Writes acts into the log: each once, however often and in whichever process its event arrives. */
export const createTakeActs = (database: Database) => {
  /** Until the transaction ends nobody else adds to this chain; to others they do. */
  const lockChain = async (chain: string): Promise<ChainEnd> => {
    await database.query(
      `INSERT INTO audit_chains (chain, last_hash, checked_hash) VALUES ($1, $2, $2)
       ON CONFLICT DO NOTHING`,
      [chain, firstHash],
    );
    const [end] = await database.query<ChainEnd>(
      'SELECT last_seq, last_hash FROM audit_chains WHERE chain = $1 FOR UPDATE',
      [chain],
    );
    if (!end) throw new Error(`The chain ${chain} is gone.`);
    return end;
  };

  const isKnown = async (id: string) =>
    (await database.query('SELECT 1 FROM audit_lines WHERE id = $1', [id])).length > 0;

  const findKeyName = async (keyId: string | null): Promise<string | null> => {
    if (keyId === null) return null;
    const [key] = await database.query<{ name: string }>(
      'SELECT name FROM keys WHERE id::text = $1',
      [keyId],
    );
    return key?.name ?? null;
  };

  /** Whose account is erased leaves no details behind, those of acts on their way included. */
  const isErased = async ({ ownerId, actor }: PlatformActed) =>
    (
      await database.query('SELECT 1 FROM audit_erasures WHERE user_id = ANY ($1)', [
        [ownerId, actor.userId].filter((id) => id !== null),
      ])
    ).length > 0;

  return (act: PlatformActed): Promise<void> =>
    database.transaction(async () => {
      const { address, userAgent, before, after, ...rest } = act;
      const chain = act.ownerId ?? platformChain;
      const { last_seq: lastSeq, last_hash: lastHash } = await lockChain(chain);
      if (await isKnown(act.id)) return;
      const keyName = await findKeyName(act.actor.keyId);
      const details = JSON.stringify({ address, userAgent, keyName, before, after });
      const salt = randomBytes(saltBytes);
      const content = JSON.stringify({ ...rest, details: hashDetails(salt, details) });
      const seq = lastSeq + 1;
      const hash = hashLine(lastHash, chain, seq, content);
      await database.query(
        `INSERT INTO audit_lines (chain, seq, id, at, content, hash) VALUES ($1, $2, $3, $4, $5, $6)`,
        [chain, seq, act.id, act.at, content, hash],
      );
      if (!(await isErased(act)))
        await database.query(
          'INSERT INTO audit_details (id, at, salt, details) VALUES ($1, $2, $3, $4)',
          [act.id, act.at, salt, details],
        );
      await database.query(
        'UPDATE audit_chains SET last_seq = $2, last_hash = $3 WHERE chain = $1',
        [chain, seq, hash],
      );
    });
};
