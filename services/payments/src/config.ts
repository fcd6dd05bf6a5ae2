import { masterKeysSetting } from '@backlot/sealing';
import { defineConfig, originSetting, publicUrlSetting } from '@backlot/service';
import { z } from 'zod';

/** How Stripe is reached; whose account it is each project says itself. */
export interface StripeSettings {
  /** Origin of the API. */
  url: string;
  /** For one try; a call that fails is tried again `retries` times. */
  timeoutMs: number;
  retries: number;
}

export interface PaymentsConfig {
  /** Where the gateway is reached from outside, without a slash at the end. */
  publicUrl: string;
  /** Seal projects' keys; the first one is current. */
  masterKeys: Buffer[];
  stripe: StripeSettings;
  /** Whether projects without keys may sell for play money. */
  isTestCheckoutOn: boolean;
}

const settings = z.object({
  BACKLOT_PUBLIC_URL: publicUrlSetting,
  BACKLOT_SECRETS_KEYS: masterKeysSetting,
  BACKLOT_TEST_CHECKOUT: z.enum(['on', 'off']).default('on'),
  BACKLOT_STRIPE_URL: originSetting.default('https://api.stripe.com'),
});

export const paymentsConfig = defineConfig(
  settings,
  (values): PaymentsConfig => ({
    publicUrl: values.BACKLOT_PUBLIC_URL,
    masterKeys: values.BACKLOT_SECRETS_KEYS,
    isTestCheckoutOn: values.BACKLOT_TEST_CHECKOUT === 'on',
    stripe: {
      url: values.BACKLOT_STRIPE_URL,
      // Both tries together end within the 30 s of the gateway.
      timeoutMs: 8000,
      retries: 1,
    },
  }),
);
