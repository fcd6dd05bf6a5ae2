/**
 * Payments: checkout sessions at a provider, and what became of them. Owns no money and no card: the
 * payer gives both to the provider. Knows what products cost and how many are left; what paying for
 * them grants is the app's business, which it reads from `verify` or from the record that was paid for.
 */
import type { OwnerDirectory, ProjectDirectory } from '@backlot/contract';
import { createSealer } from '@backlot/sealing';
import {
  configRouter,
  createConfigPart,
  createSecretsReadiness,
  defineService,
  type ServiceContext,
  sealedColumn,
} from '@backlot/service';
import { createCheckouts } from './checkout/checkouts.ts';
import { createDailyBounds } from './checkout/daily-bounds.ts';
import { createLookups } from './checkout/lookups.ts';
import { createFindProject } from './checkout/project-settings.ts';
import { createProviderAccounts } from './checkout/provider-accounts.ts';
import { createRefunds } from './checkout/refunds.ts';
import { createReturnPages } from './checkout/return-page.ts';
import { type PaymentsConfig, paymentsConfig } from './config.ts';
import { createOnPaidConfig, createOnPaidRules } from './on-paid/rules.ts';
import { eraseProject, eraseUser, mergeUser } from './payments/erasure.ts';
import { createPaidRecords } from './payments/paid-records.ts';
import { createPaymentList } from './payments/payment-list.ts';
import { createPayments } from './payments/payments.ts';
import { deleteOld } from './payments/retention.ts';
import { createSettleInTurn } from './payments/settle-in-turn.ts';
import { createProductEditors } from './products/product-editors.ts';
import { createProducts } from './products/products.ts';
import { createProductsConfig } from './products/products-config.ts';
import { createStock } from './products/stock.ts';
import { checkAmount } from './provider/currency.ts';
import { createModes } from './provider/modes.ts';
import { createOwnerCheck } from './provider/owner-check.ts';
import { createRoutes } from './routes/index.ts';
import { sealContext } from './stripe/sealed-keys.ts';
import { createStripe } from './stripe/stripe.ts';
import { createStripeKeyStore } from './stripe/stripe-keys.ts';
import { createSessionCloser } from './sweep/session-closer.ts';
import { createSweep } from './sweep/sweep.ts';
import { createTestCheckout } from './test-checkout/provider.ts';
import { createTestSessions } from './test-checkout/sessions.ts';
import { createWebhooks } from './webhooks/webhooks.ts';

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
    const modes = createModes(database, now);
    const settleInTurn = createSettleInTurn(database);
    const checkOwner = createOwnerCheck(context.owners);
    const stripeKeys = createStripeKeyStore({
      database,
      sealer,
      stripe,
      now,
      isTestCheckoutOn,
      checkOwner,
      modes,
    });
    const testCheckout = createTestCheckout({ database, publicUrl: config.publicUrl, now });
    const accounts = createProviderAccounts({ testCheckout, stripe, stripeKeys, isTestCheckoutOn });
    const paidRecords = createPaidRecords({ database, outbox, now });
    const stock = createStock(database);
    const payments = createPayments({ database, outbox, stock, paidRecords, modes, now });
    const findProject = createFindProject(context.projects);
    const products = createProducts(database, now);
    const productEditors = createProductEditors(async (projectId) => {
      const project = await findProject(projectId);
      return project?.settings ?? {};
    });
    const onPaidRules = createOnPaidRules(database, now);
    const paymentsConfig = createConfigPart(database, {
      products: createProductsConfig({ database, checkAmount, now }),
      onPaid: createOnPaidConfig(onPaidRules),
    });
    const dailyBounds = createDailyBounds(database, now);
    const lookups = createLookups({ payments, accounts, settleInTurn, log });
    const refunds = createRefunds({ database, payments, accounts, stock, now, log });
    const checkouts = createCheckouts({
      ...context,
      ...config,
      payments,
      products,
      onPaidRules,
      accounts,
      checkOwner,
      dailyBounds,
      lookups,
      findProject,
    });
    const sessionCloser = createSessionCloser({ ...context, accounts, modes });
    const sweep = createSweep({
      ...context,
      payments,
      accounts,
      lookups,
      refunds,
      sessionCloser,
      paidRecords,
    });
    return {
      seals: [
        sealedColumn<{ project_number: number }>({
          database,
          sealer,
          table: 'secrets',
          column: 'sealed',
          keys: ['project_number'],
          context: ({ project_number }) => sealContext(project_number),
        }),
      ],
      needs: [createSecretsReadiness({ ...context, sealer })],
      routes: createRoutes({
        paymentList: createPaymentList(database),
        products,
        productEditors,
        onPaidRules,
        checkouts,
        refunds,
        stripeKeys,
        testSessions: createTestSessions({
          payments,
          modes,
          settleInTurn,
          testCheckout,
          isTestCheckoutOn,
        }),
        returnPages: createReturnPages(payments),
        webhooks: createWebhooks({
          database,
          payments,
          lookups,
          modes,
          settleInTurn,
          stripeKeys,
          now,
        }),
      }),
      internal: configRouter(paymentsConfig),
      queues: { lookups, settlements: settleInTurn },
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
        'user.merged': (merged) => mergeUser(database, merged),
      },
      sweeps: [
        { run: sweep, everyMs: sweepMs },
        { run: () => deleteOld(database, now()) },
        { run: () => dailyBounds.sweep() },
      ],
      api: {
        directories: { paymentsConfig },
        /** Looks up open payments that are due at their providers; also runs every minute. */
        sweep: () => database.acrossProjects(sweep),
        /** Payments that wait for those before them of their project. */
        waitingPayments: () => settleInTurn.usage().slow.waiting,
        /** Deletes what nobody asks for any more; also runs every hour. */
        deleteOld: () => database.acrossProjects(() => deleteOld(database, now())),
      },
    };
  },
});
