import { isSameMode, type Mode } from '../provider/modes.ts';
import { checkoutClosed, type ProviderAccount, SessionNotFound } from '../provider/provider.ts';
import type { Stripe } from '../stripe/stripe-client.ts';
import { isLiveKey, type StripeKeyStore } from '../stripe/stripe-keys.ts';

export interface ProviderAccountsDeps {
  testCheckout: ProviderAccount;
  stripe: Stripe;
  stripeKeys: StripeKeyStore;
  isTestCheckoutOn: boolean;
}

export type ProviderAccounts = ReturnType<typeof createProviderAccounts>;

/** Keys that were replaced may be of another account: what the first does not know, the second may. */
const orElse = (first: ProviderAccount, second: ProviderAccount): ProviderAccount => {
  const askBoth = async <T>(ask: (account: ProviderAccount) => Promise<T>): Promise<T> => {
    try {
      return await ask(first);
    } catch (error) {
      if (!(error instanceof SessionNotFound)) throw error;
      return ask(second).catch(() => {
        throw error;
      });
    }
  };
  return {
    create: (...args) => first.create(...args),
    retrieve: (...args) => askBoth((account) => account.retrieve(...args)),
    expire: (...args) => askBoth((account) => account.expire(...args)),
    refund: (...args) => askBoth((account) => account.refund(...args)),
  };
};

/** Who takes a project's money: its own account, or the test checkout; never somebody else's account. */
export const createProviderAccounts = ({
  testCheckout,
  stripe,
  stripeKeys,
  isTestCheckoutOn,
}: ProviderAccountsDeps) => {
  const toOwn = (secretKey: string) => ({
    account: stripe.account(secretKey),
    mode: { provider: 'stripe', livemode: isLiveKey(secretKey) } as const,
  });
  return {
    /**
     * Whose session it is, by the keys of its mode: the present ones, or those replaced within the last day. Undefined
     * where the project has none of them any more.
     */
    async find(row: Mode & { project_number: number }): Promise<ProviderAccount | undefined> {
      if (row.provider === 'test-checkout') return testCheckout;
      const keys = await stripeKeys.readSecretKeys(row.project_number);
      const [first, second] = keys.map(toOwn).filter(({ mode }) => isSameMode(row, mode));
      return first && second ? orElse(first.account, second.account) : first?.account;
    },

    /** Where a further payment goes, and in which mode. @throws ApiError checkout_closed */
    async current(projectNumber: number): Promise<{ account: ProviderAccount; mode: Mode }> {
      const keys = await stripeKeys.read(projectNumber);
      if (keys) return toOwn(keys.secretKey);
      if (!isTestCheckoutOn)
        throw checkoutClosed(
          'The project has no keys, and the test checkout is switched off here.',
        );
      if (await stripeKeys.isCheckoutClosed(projectNumber))
        throw checkoutClosed('The keys of the project were deleted.', { canChooseTest: true });
      return { account: testCheckout, mode: { provider: 'test-checkout', livemode: false } };
    },
  };
};
