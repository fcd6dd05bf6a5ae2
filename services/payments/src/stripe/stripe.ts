import type { StripeSettings } from '../config.ts';
import type { Stripe } from './stripe-client.ts';

/** Stripe's SDK is loaded with the first call: an installation without live payments saves its memory. */
export const createStripe = (settings: StripeSettings): Stripe => {
  let client: Promise<Stripe> | undefined;
  const load = () => {
    client ??= import('./stripe-client.ts').then(({ createStripeClient }) =>
      createStripeClient(settings),
    );
    return client;
  };
  return {
    check: async (secretKey) => (await load()).check(secretKey),
    account(secretKey) {
      const loadAccount = async () => (await load()).account(secretKey);
      return {
        create: async (...args) => (await loadAccount()).create(...args),
        retrieve: async (...args) => (await loadAccount()).retrieve(...args),
        expire: async (...args) => (await loadAccount()).expire(...args),
        refund: async (...args) => (await loadAccount()).refund(...args),
      };
    },
  };
};
