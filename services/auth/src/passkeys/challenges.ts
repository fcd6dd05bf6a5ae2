import { createHash, createHmac, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Database } from '@backlot/database';

/** What a challenge was given out for: it is good for nothing else. */
export interface ChallengePurpose {
  does: 'register' | 'sign-in';
  projectNumber: number;
  /** Of whoever registers; null of whoever signs in, who is not known yet. */
  userId: string | null;
  origin: string;
}

export interface Challenges {
  give(purpose: ChallengePurpose): Buffer;
  /** @param challenge base64url, from whomever */
  isGood(challenge: string, purpose: ChallengePurpose): boolean;
  /** False where it was answered before. Belongs into the transaction of what the answer allows. */
  use(projectNumber: number, challenge: string): Promise<boolean>;
}

export const challengeMs = 5 * 60_000;
const issuer = 'backlot passkey challenge 1';
const timeBytes = 8;
const nonceBytes = 16;
const signedBytes = timeBytes + nonceBytes;
const allBytes = signedBytes + 32;

const digest = (challenge: string) => createHash('sha256').update(challenge).digest();

interface ChallengeOptions {
  database: Database;
  /** Of this installation: the first one signs, all are good. */
  keys: readonly KeyObject[];
  now: () => number;
}

/** Signed, and stored only once they were answered: whoever asks for many leaves nothing behind. */
export const createChallenges = ({ database, keys, now }: ChallengeOptions): Challenges => {
  const sign = (key: KeyObject, signed: Buffer, purpose: ChallengePurpose) => {
    const { does, projectNumber, userId, origin } = purpose;
    const meant = JSON.stringify([issuer, does, projectNumber, userId, origin]);
    return createHmac('sha256', key).update(signed).update(meant).digest();
  };
  const endsAt = (challenge: Buffer) => Number(challenge.readBigUInt64BE(0));
  return {
    give(purpose) {
      const [first] = keys;
      if (!first) throw new Error('No key to sign challenges with.');
      const time = Buffer.alloc(timeBytes);
      time.writeBigUInt64BE(BigInt(now() + challengeMs));
      const signed = Buffer.concat([time, randomBytes(nonceBytes)]);
      return Buffer.concat([signed, sign(first, signed, purpose)]);
    },
    isGood(challenge, purpose) {
      const bytes = Buffer.from(challenge, 'base64url');
      if (bytes.length !== allBytes || bytes.toString('base64url') !== challenge) return false;
      if (endsAt(bytes) <= now()) return false;
      const signed = bytes.subarray(0, signedBytes);
      return keys.some((key) =>
        timingSafeEqual(sign(key, signed, purpose), bytes.subarray(signedBytes)),
      );
    },
    async use(projectNumber, challenge) {
      const rows = await database.query(
        `INSERT INTO used_challenges (project_number, challenge, expires_at) VALUES ($1, $2, $3)
         ON CONFLICT DO NOTHING RETURNING 1`,
        [projectNumber, digest(challenge), new Date(endsAt(Buffer.from(challenge, 'base64url')))],
      );
      return rows.length > 0;
    },
  };
};
