import type { Checkout, Provider } from './checkout/checkout.ts';
import type { TestCheckout } from './checkout/hosted-test.ts';
import type { Stripe } from './checkout/stripe.ts';
import type { Secrets } from './secrets.ts';

export interface ProvidersDeps {
  testCheckout: TestCheckout;
  stripe: Stripe;
  secrets: Secrets;
}

export type Providers = ReturnType<typeof createProviders>;

/** Who takes a project's money: its own account, or the test checkout; never somebody else's account. */
export const createProviders = ({ testCheckout, stripe, secrets }: ProvidersDeps) => {
  /** Undefined where the project has no keys for it any more. */
  const checkoutOf = async (
    projectNumber: number,
    provider: Provider,
  ): Promise<Checkout | undefined> => {
    if (provider === 'test-checkout') return testCheckout;
    const keys = await secrets.keysOf(projectNumber);
    return keys && stripe.account(keys.secretKey);
  };
  return {
    checkoutOf,
    /** Where a further payment goes. */
    async current(projectNumber: number): Promise<{ provider: Provider; checkout: Checkout }> {
      const checkout = await checkoutOf(projectNumber, 'stripe');
      return checkout
        ? { provider: 'stripe', checkout }
        : { provider: 'test-checkout', checkout: testCheckout };
    },
  };
};
