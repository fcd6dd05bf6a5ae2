import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { secretKey, startTestStripe } from '@backlot/payments/test-stripe';
import { startExim } from '@backlot/testing';
import { LLMock } from '@copilotkit/aimock';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

/** A platform and what its owner finds at the providers. */
export interface World {
  platform: PlatformUnderTest;
  /** Stands in every text that the model writes. */
  phrase: string;
  /** The mails to this address, as they were delivered; undefined where the mailbox page shows them. */
  deliveredTo?: (address: string) => Promise<string[]>;
  stop(): Promise<void>;
}

/** As `pnpm dev` starts it. */
export const withStandIns = async (): Promise<World> => {
  const platform = await platformUnderTest('in-process');
  return { platform, phrase: 'demo', stop: () => platform.stop() };
};

/** Services as processes see them, with a model's endpoint, a mail server and Stripe's counterpart. */
export const withProviders = async (): Promise<World> => {
  const folder = await mkdtemp(join(tmpdir(), 'backlot-providers-'));
  const exim = await startExim({ dataDir: join(folder, 'exim') });
  const stripe = await startTestStripe();
  const model = new LLMock({ port: 0, host: '127.0.0.1' });
  model.onMessage(/Describe this product/, { content: 'It pours without a drop beside the cup.' });
  await model.start();
  const platform = await platformUnderTest('http', {
    BACKLOT_AI_PROVIDER: 'openai',
    BACKLOT_AI_ENDPOINTS: JSON.stringify([
      { baseUrl: `${model.url}/v1`, apiKey: 'sk-of-nobody', model: 'gpt-test' },
    ]),
    BACKLOT_MAILER: 'smtp',
    BACKLOT_MAIL_DOMAIN: 'shop.example',
    BACKLOT_SMTP_URL: `smtp://${exim.user}:${exim.password}@127.0.0.1:${exim.port}`,
    BACKLOT_SMTP_CA: exim.certificate,
    BACKLOT_STRIPE_URL: stripe.url,
  });
  const { body: owner } = await platform.runtime('platform')('POST', '/auth/signin', {
    body: platform.owner,
  });
  const { token } = owner;
  await platform.control('PUT', '/projects/demo/secrets/stripe', { token, body: { secretKey } });
  return {
    platform,
    phrase: 'without a drop',
    deliveredTo: async (address) =>
      (await exim.messages()).filter((message) => message.includes(`To: ${address}`)),
    async stop() {
      await platform.stop();
      await Promise.all([model.stop(), stripe.close(), exim.stop()]);
      await rm(folder, { recursive: true });
    },
  };
};
