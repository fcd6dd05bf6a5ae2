import { createPublicKey, verify } from 'node:crypto';
import { ApiError, text } from '@backlot/contract';
import { z } from 'zod';
import type { BounceReport } from './bounces.ts';

/** As SendGrid sends them. */
export const signatureHeader = 'x-twilio-email-event-webhook-signature';
export const timestampHeader = 'x-twilio-email-event-webhook-timestamp';

/** The most that a signature's time may differ from ours, in either direction. */
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
    const isRecent =
      timestamp !== undefined &&
      /^\d{1,12}$/.test(timestamp) &&
      Math.abs(now() / 1000 - Number(timestamp)) <= toleranceSeconds;
    const isSigned =
      isRecent &&
      signature !== undefined &&
      verify('sha256', Buffer.from(timestamp + body), publicKey, Buffer.from(signature, 'base64'));
    if (!isSigned)
      throw new ApiError(
        'invalid_signature',
        'The signature is wrong, or its timestamp is too far from now.',
      );
  };
};

const sendgridEvent = z.object({
  event: z.string(),
  type: z.string().optional(),
  sg_event_id: text(1, 200),
  email: text(1, 320),
  backlot_project: z.string().regex(/^\d{1,15}$/),
  backlot_mail: z.uuid(),
});

/** A hard bounce or a complaint; undefined for every other event. */
export const parseSendgridEvent = (value: unknown): BounceReport | undefined => {
  const event = sendgridEvent.safeParse(value).data;
  if (!event) return undefined;
  // `blocked` is a bounce of this one attempt, not of the address.
  const isBounce = event.event === 'bounce' && event.type !== 'blocked';
  if (!isBounce && event.event !== 'spamreport') return undefined;
  return {
    eventId: event.sg_event_id,
    projectNumber: Number(event.backlot_project),
    mailId: event.backlot_mail,
    address: event.email,
    kind: isBounce ? 'bounce' : 'complaint',
  };
};
