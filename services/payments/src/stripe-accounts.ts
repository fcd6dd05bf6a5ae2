import { ApiError } from '@backlot/contract';
import { CheckoutFailed } from './checkout/checkout.ts';
import type { Stripe } from './checkout/stripe.ts';
import type { Secrets } from './secrets.ts';

export type StripeAccounts = ReturnType<typeof createStripeAccounts>;

/** Projects' own accounts at Stripe. */
export const createStripeAccounts = (secrets: Secrets, stripe: Stripe) => {
  const check = async (secretKey: string): Promise<void> => {
    try {
      await stripe.check(secretKey);
    } catch (cause) {
      if (cause instanceof CheckoutFailed && cause.reason === 'credentials') {
        throw new ApiError(
          'invalid_secret',
          '"secretKey": Stripe does not accept it for checkouts.',
          {
            cause,
            hint: 'A restricted key needs to write Checkout Sessions and Refunds, and to read Payment Intents and Charges.',
          },
        );
      }
      const isTimeout = cause instanceof CheckoutFailed && cause.reason === 'timeout';
      throw new ApiError(
        isTimeout ? 'timeout' : 'upstream_failed',
        'Stripe could not be asked about this key. Try again shortly.',
        { cause },
      );
    }
  };

  return {
    get: secrets.get,
    remove: secrets.remove,

    /** Asks Stripe first. @throws ApiError invalid_secret, upstream_failed, timeout */
    set: async (
      projectNumber: number,
      keys: { secretKey: string; webhookSecret?: string | undefined },
    ) => {
      await check(keys.secretKey);
      return secrets.set(projectNumber, keys);
    },
  };
};
