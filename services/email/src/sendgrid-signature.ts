import { createPublicKey, verify } from 'node:crypto';
import { ApiError } from '@backlot/contract';

/** As SendGrid sends them. */
export const signatureHeader = 'x-twilio-email-event-webhook-signature';
export const timestampHeader = 'x-twilio-email-event-webhook-timestamp';

/** How far a signature's time may lie from ours, before and after. */
const toleranceSeconds = 600;

export interface SignedEvents {
  /** ECDSA over timestamp and body, DER in base64. */
  signature: string | undefined;
  /** Epoch seconds. */
  timestamp: string | undefined;
  body: string;
}

/**
 * @param key the verification key that SendGrid shows: SubjectPublicKeyInfo in base64
 * @param now epoch milliseconds
 */
export const createSignatureCheck = (key: string, now: () => number) => {
  const publicKey = createPublicKey({
    key: Buffer.from(key, 'base64'),
    format: 'der',
    type: 'spki',
  });
  /** @throws ApiError invalid_signature */
  return ({ signature, timestamp, body }: SignedEvents): void => {
    const isTimely =
      timestamp !== undefined &&
      /^\d{1,12}$/.test(timestamp) &&
      Math.abs(now() / 1000 - Number(timestamp)) <= toleranceSeconds;
    const isSigned =
      isTimely &&
      signature !== undefined &&
      verify('sha256', Buffer.from(timestamp + body), publicKey, Buffer.from(signature, 'base64'));
    if (!isSigned)
      throw new ApiError(
        'invalid_signature',
        'The signature does not fit, or is not of this time.',
      );
  };
};
