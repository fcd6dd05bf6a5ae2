import type { Stripe } from '../stripe/stripe.ts';
import type { StripeKeyStore } from '../stripe/stripe-keys.ts';
import { checkoutClosed, type ProviderAccount, type ProviderName } from './provider.ts';

export interface ProviderAccountsDeps {
  testCheckout: ProviderAccount;
  stripe: Stripe;
  stripeKeys: StripeKeyStore;
  isTestCheckoutOn: boolean;
}

export type ProviderAccounts = ReturnType<typeof createProviderAccounts>;

/** Who takes a project's money: its own account, or the test checkout; never somebody else's account. */
export const createProviderAccounts = ({
  testCheckout,
  stripe,
  stripeKeys,
  isTestCheckoutOn,
}: ProviderAccountsDeps) => {
  /** Undefined where the project has no keys for it any more. */
  const find = async (
    projectNumber: number,
    provider: ProviderName,
  ): Promise<ProviderAccount | undefined> => {
    if (provider === 'test-checkout') return testCheckout;
    const keys = await stripeKeys.read(projectNumber);
    return keys && stripe.account(keys.secretKey);
  };
  return {
    find,
    /** Where a further payment goes. @throws ApiError checkout_closed */
    async current(
      projectNumber: number,
    ): Promise<{ provider: ProviderName; account: ProviderAccount }> {
      const account = await find(projectNumber, 'stripe');
      if (account) return { provider: 'stripe', account };
      if (!isTestCheckoutOn)
        throw checkoutClosed(
          'The project has no keys, and the test checkout is switched off here.',
        );
      if (await stripeKeys.isCheckoutClosed(projectNumber))
        throw checkoutClosed('The keys of the project were deleted.', { canChooseTest: true });
      return { provider: 'test-checkout', account: testCheckout };
    },
  };
};
