import type { Stripe } from '../stripe/stripe-client.ts';
import { isLiveKey, type StripeKeyStore } from '../stripe/stripe-keys.ts';
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
  const ownAccount = async (projectNumber: number) => {
    const keys = await stripeKeys.read(projectNumber);
    if (!keys) return undefined;
    const { secretKey } = keys;
    return { account: stripe.account(secretKey), isLive: isLiveKey(secretKey) };
  };
  /** Undefined where the project has no keys for it any more. */
  const find = async (
    projectNumber: number,
    provider: ProviderName,
  ): Promise<ProviderAccount | undefined> => {
    if (provider === 'test-checkout') return testCheckout;
    return (await ownAccount(projectNumber))?.account;
  };
  return {
    find,
    /** Where a further payment goes, and whether it moves real money. @throws ApiError checkout_closed */
    async current(
      projectNumber: number,
    ): Promise<{ provider: ProviderName; account: ProviderAccount; isLive: boolean }> {
      const own = await ownAccount(projectNumber);
      if (own) return { provider: 'stripe', ...own };
      if (!isTestCheckoutOn)
        throw checkoutClosed(
          'The project has no keys, and the test checkout is switched off here.',
        );
      if (await stripeKeys.isCheckoutClosed(projectNumber))
        throw checkoutClosed('The keys of the project were deleted.', { canChooseTest: true });
      return { provider: 'test-checkout', account: testCheckout, isLive: false };
    },
  };
};
