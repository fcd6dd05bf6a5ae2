/**
 * Payments: checkout sessions at a provider, and what became of them. Owns no money and no card: the
 * payer gives both to the provider. Knows what products cost and how many are left; what paying for
 * them grants is the app's business, which it reads from `verify` or from the record that was paid for.
 */
import type { OwnerDirectory, ProjectDirectory } from '@backlot/contract';
import { createSealer } from '@backlot/sealing';
import { defineService, type ServiceContext } from '@backlot/service';
import { createCheckouts } from './checkout/checkouts.ts';
import { createDailyBounds } from './checkout/daily-bounds.ts';
import { createLookups } from './checkout/lookups.ts';
import { createOwnerCheck } from './checkout/owner-check.ts';
import { createProviderAccounts } from './checkout/provider-accounts.ts';
import { createReturnPages } from './checkout/return-page.ts';
import { type PaymentsConfig, paymentsConfig } from './config.ts';
import { createPaidRecords } from './on-paid/paid-records.ts';
import { createOnPaidRules } from './on-paid/rules.ts';
import { eraseProject, eraseUser } from './payments/erasure.ts';
import { createPayments } from './payments/payments.ts';
import { deleteOld } from './payments/retention.ts';
import { createSessionCloser } from './payments/session-closer.ts';
import { createSweep } from './payments/sweep.ts';
import { createProducts } from './products/products.ts';
import { createStock } from './products/stock.ts';
import { createRoutes } from './routes/index.ts';
import { createStripe } from './stripe/stripe.ts';
import { createStripeKeyStore } from './stripe/stripe-keys.ts';
import { createWebhooks } from './stripe/webhooks.ts';
import { createTestCheckout } from './test-checkout/provider.ts';
import { createTestSessions } from './test-checkout/sessions.ts';

export interface PaymentsContext extends ServiceContext<PaymentsConfig> {
  /** Settings that the signed identity leaves out, and whether a project is deleted. */
  projects: ProjectDirectory;
  /** Whether an owner may take real money. */
  owners: OwnerDirectory;
}

const sweepMs = 60_000;

export const paymentsService = defineService({
  name: 'payments',
  migrations: new URL('../migrations/', import.meta.url),
  config: paymentsConfig,
  asks: ['projects', 'owners'],
  build(context: PaymentsContext) {
    const { database, outbox, config, now, log } = context;
    const { isTestCheckoutOn } = config;
    const stripe = createStripe(config.stripe);
    const sealer = createSealer(config.masterKeys);
    const checkOwner = createOwnerCheck(context.owners);
    const stripeKeys = createStripeKeyStore({
      ...{ database, sealer, stripe, now, isTestCheckoutOn, checkOwner },
    });
    const testCheckout = createTestCheckout({ database, publicUrl: config.publicUrl, now });
    const accounts = createProviderAccounts({ testCheckout, stripe, stripeKeys, isTestCheckoutOn });
    const paidRecords = createPaidRecords({ database, outbox, now });
    const stock = createStock(database);
    const payments = createPayments({ database, outbox, stock, paidRecords, now });
    const products = createProducts(database, now);
    const onPaidRules = createOnPaidRules(database, now);
    const dailyBounds = createDailyBounds(database, now);
    const lookups = createLookups({ payments, accounts, log });
    const checkouts = createCheckouts({
      ...{ ...context, ...config, payments, products, onPaidRules, accounts, checkOwner },
      ...{ dailyBounds, lookups },
    });
    const sessionCloser = createSessionCloser({ ...context, accounts });
    const sweep = createSweep({
      ...{ ...context, payments, accounts, lookups, checkouts, sessionCloser, paidRecords },
    });
    return {
      routes: createRoutes({
        payments,
        products,
        onPaidRules,
        checkouts,
        stripeKeys,
        testSessions: createTestSessions({ database, payments, testCheckout, isTestCheckoutOn }),
        returnPages: createReturnPages(payments),
        webhooks: createWebhooks({ database, payments, stripeKeys, now }),
      }),
      queues: { lookups },
      subscriptions: {
        async 'project.erased'(erased) {
          const { projectNumber } = erased;
          try {
            await sessionCloser.closeAll(projectNumber);
          } catch (err) {
            log.error(
              { err, projectNumber },
              'not all sessions of a project were closed; it is erased all the same',
            );
          }
          await eraseProject(database, erased);
        },
        'record.settled': (payload) => paidRecords.settle(payload),
        'project.changed': (payload) => sessionCloser.projectChanged(payload),
        'user.erased': (erased) => eraseUser(database, erased),
      },
      sweeps: [
        { run: sweep, everyMs: sweepMs },
        { run: () => deleteOld(database, now()) },
        { run: () => dailyBounds.sweep() },
      ],
      api: {
        /** Looks up open payments that are due at their providers; also runs every minute. */
        sweep: () => database.acrossProjects(sweep),
        /** Deletes what nobody asks for any more; also runs every hour. */
        deleteOld: () => database.acrossProjects(() => deleteOld(database, now())),
      },
    };
  },
});
