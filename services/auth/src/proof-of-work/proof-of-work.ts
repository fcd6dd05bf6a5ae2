import { createHmac } from 'node:crypto';
import { ApiError } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { createChallenge, verifySolution } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import { z } from 'zod';
import type { Attempts } from '../attempts.ts';
import { hashIp } from '../counters.ts';

const lifetimeMs = 5 * 60_000;
/** Of one try; some 256 are needed: about a second of a phone. */
const iterations = 5000;
const keyPrefix = '00';
const maxHeader = 4096;

const hex = z.string().regex(/^[0-9a-f]{1,128}$/);
const parameters = z.strictObject({
  algorithm: z.literal('PBKDF2/SHA-256'),
  nonce: hex,
  salt: hex,
  cost: z.literal(iterations),
  keyLength: z.literal(32),
  keyPrefix: z.literal(keyPrefix),
  expiresAt: z.int(),
  data: z.strictObject({ call: z.string(), project: z.int(), address: z.string() }),
});
const proof = z.object({
  challenge: z.object({ parameters, signature: hex }),
  solution: z.object({ counter: z.int(), derivedKey: hex }),
});

const readProof = (header: string) => {
  if (header.length > maxHeader) return undefined;
  try {
    return proof.safeParse(JSON.parse(Buffer.from(header, 'base64url').toString())).data;
  } catch {
    return undefined;
  }
};

/** A call for which work is asked, with what it has sent of it. */
export interface ProvenCall {
  identity: Pick<Identity, 'project' | 'ip'>;
  /** Operation of the route. */
  call: string;
  /** The header `Backlot-Proof`. */
  header: string | undefined;
}

/** Asked of an address from which many have failed or signed up: each call then costs its caller a little work, once. */
export const createProofOfWork = ({
  masterKeys,
  attempts,
  now,
}: {
  masterKeys: readonly Buffer[];
  attempts: Attempts;
  now: () => number;
}) => {
  const secrets = masterKeys.map((masterKey) =>
    createHmac('sha256', masterKey).update('proofs of work').digest('hex'),
  );
  const [secret = ''] = secrets;

  const toData = ({ identity, call }: ProvenCall) => ({
    call,
    project: identity.project.number,
    address: hashIp(identity.ip).toString('hex').slice(0, 32),
  });

  const ask = async (asked: ProvenCall, message: string) =>
    new ApiError('proof_of_work_needed', message, {
      challenge: await createChallenge({
        algorithm: 'PBKDF2/SHA-256',
        cost: iterations,
        keyLength: 32,
        keyPrefix,
        deriveKey,
        expiresAt: Math.floor((now() + lifetimeMs) / 1000),
        data: toData(asked),
        hmacSignatureSecret: secret,
      }),
      hint: 'The client of the SDK does this by itself; for others /docs/guides/accounts says how. Less from there within the window asks for none.',
    });

  /** Whether the proof is good for this call, and is used for the first time. */
  const accept = async (asked: ProvenCall, header: string): Promise<boolean> => {
    const given = readProof(header);
    if (!given) return false;
    const { challenge, solution } = given;
    const { expiresAt, data, nonce } = challenge.parameters;
    if (expiresAt * 1000 <= now()) return false;
    const own = toData(asked);
    if (data.call !== own.call || data.project !== own.project || data.address !== own.address)
      return false;
    const isSolvedFor = async (hmacSignatureSecret: string) => {
      const answer = { ...solution, time: 0 };
      const checked = await verifySolution({
        challenge,
        solution: answer,
        deriveKey,
        hmacSignatureSecret,
      });
      return checked.verified;
    };
    const verdicts = await Promise.all(secrets.map(isSolvedFor));
    const verified = verdicts.includes(true);
    return verified && attempts.isFirst(own.project, `proof ${nonce}`, 2 * lifetimeMs);
  };

  return {
    /** @throws ApiError proof_of_work_needed, with another challenge */
    async check(asked: ProvenCall): Promise<void> {
      if (asked.header === undefined)
        throw await ask(
          asked,
          'Much has come from your network address: solve the challenge, and send the same again with the header Backlot-Proof.',
        );
      if (!(await accept(asked, asked.header)))
        throw await ask(
          asked,
          'The proof of work is wrong, used, expired or of another call: solve the new challenge.',
        );
    },
  };
};

export type ProofOfWork = ReturnType<typeof createProofOfWork>;
