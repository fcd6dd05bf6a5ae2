import type { Sealer } from '@backlot/sealing';
import { z } from 'zod';

/** Epoch milliseconds. */
const validUntil = z.number();

const sealedKeys = z.object({
  secretKey: z.string(),
  webhookSecret: z.string().nullable(),
  /** Replaced ones, which count until then: sessions that were opened under them are still known. */
  previous: z.object({ webhookSecret: z.string(), validUntil }).nullable(),
  previousKey: z.object({ secretKey: z.string(), validUntil }).nullable().default(null),
});
export type StripeKeys = z.output<typeof sealedKeys>;

export interface NewKeys {
  secretKey: string;
  webhookSecret?: string | undefined;
}

/** Secret and restricted keys say in their prefix which money they move. */
export const isLiveKey = (secretKey: string): boolean => /^[rs]k_live_/.test(secretKey);

/** How long both count, so that the other side can be changed meanwhile; a session lasts 23 hours. */
const overlapMs = 24 * 60 * 60 * 1000;

export const sealContext = (projectNumber: number) => `${projectNumber}/stripe`;

export const openKeys = (sealer: Sealer, projectNumber: number, sealed: Buffer): StripeKeys =>
  sealedKeys.parse(JSON.parse(sealer.open(sealed, sealContext(projectNumber))));

export const sealKeys = (sealer: Sealer, projectNumber: number, keys: StripeKeys): Buffer =>
  sealer.seal(JSON.stringify(keys), sealContext(projectNumber));

/** Without what has been replaced for long enough. */
export const withoutOutdated = (keys: StripeKeys, now: number): StripeKeys => ({
  ...keys,
  previous: keys.previous && keys.previous.validUntil > now ? keys.previous : null,
  previousKey: keys.previousKey && keys.previousKey.validUntil > now ? keys.previousKey : null,
});

/**
 * A webhook secret that is left out stays, unless test keys follow live ones or the other way round: an endpoint of
 * Stripe belongs to one mode.
 */
export const replaceKeys = (
  before: StripeKeys | undefined,
  { secretKey, webhookSecret: newSecret }: NewKeys,
  now: number,
): StripeKeys => {
  const validUntil = now + overlapMs;
  const isSameMode = before && isLiveKey(before.secretKey) === isLiveKey(secretKey);
  const replaced = before?.webhookSecret ?? null;
  const webhookSecret = newSecret ?? (isSameMode ? replaced : null);
  return {
    secretKey,
    webhookSecret,
    previous:
      replaced === null || replaced === webhookSecret
        ? (before?.previous ?? null)
        : { webhookSecret: replaced, validUntil },
    previousKey:
      before === undefined || before.secretKey === secretKey
        ? (before?.previousKey ?? null)
        : { secretKey: before.secretKey, validUntil },
  };
};
