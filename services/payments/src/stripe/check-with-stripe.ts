import { ApiError } from '@backlot/contract';
import { ProviderFailed } from '../provider/provider.ts';
import type { Stripe } from './stripe-client.ts';

/** @throws ApiError invalid_secret, upstream_failed, timeout */
export const checkWithStripe = async (stripe: Stripe, secretKey: string): Promise<void> => {
  try {
    await stripe.check(secretKey);
  } catch (cause) {
    const reason = cause instanceof ProviderFailed ? cause.reason : 'failed';
    if (reason === 'credentials') {
      throw new ApiError(
        'invalid_secret',
        '"secretKey": Stripe does not accept it for checkouts.',
        {
          cause,
          hint: 'A restricted key needs to write Checkout Sessions and Refunds, and to read Payment Intents and Charges.',
        },
      );
    }
    throw new ApiError(
      reason === 'timeout' ? 'timeout' : 'upstream_failed',
      'Stripe could not be asked about this key. Try again shortly.',
      { cause },
    );
  }
};
