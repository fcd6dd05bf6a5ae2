import { isUuid, paymentRoutes, type RouteBody } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { uuidv7 } from 'uuidv7';
import { checkPays, type OnPaidRules } from '../on-paid/rules.ts';
import type { PaymentRow } from '../payments/payment-row.ts';
import type { Payments } from '../payments/payments.ts';
import type { Products } from '../products/products.ts';
import type { OwnerCheck } from '../provider/owner-check.ts';
import {
  type Order,
  OrderRefused,
  type ProviderAccount,
  ProviderFailed,
  type Session,
} from '../provider/provider.ts';
import { toApiError } from '../provider/provider-failures.ts';
import { checkReturnUrl, isTrustedOrigin } from '../provider/return-url.ts';
import type { DailyBounds } from './daily-bounds.ts';
import type { Lookups } from './lookups.ts';
import { priceItems } from './price-items.ts';
import type { FindProject } from './project-settings.ts';
import type { ProviderAccounts } from './provider-accounts.ts';

type Body = RouteBody<typeof paymentRoutes.createCheckout>;

/** Stripe allows 24 hours at most; the rest is for clocks that differ. */
const sessionMs = 23 * 60 * 60 * 1000;
/** Stripe's webhook should have come by then; of the test checkout only a session's end has to be found. */
const firstCheckMs = 10 * 60 * 1000;

export interface CheckoutsDeps {
  payments: Payments;
  products: Products;
  onPaidRules: OnPaidRules;
  accounts: ProviderAccounts;
  lookups: Lookups;
  dailyBounds: DailyBounds;
  checkOwner: OwnerCheck;
  findProject: FindProject;
  /** Origin and path prefix of the gateway. */
  publicUrl: string;
  now: () => number;
}

export type Checkouts = ReturnType<typeof createCheckouts>;

/** Payments on their way through a provider, which is called outside of any transaction. */
export const createCheckouts = (deps: CheckoutsDeps) => {
  const { payments, products, onPaidRules, accounts, dailyBounds, checkOwner } = deps;
  const { lookups, findProject, publicUrl, now } = deps;

  const findOrigins = async (projectId: string) => {
    const project = await findProject(projectId);
    const { allowedOrigins = [] } = project?.settings ?? {};
    return { allowedOrigins, verifiedOrigins: project?.verifiedOrigins ?? [] };
  };

  const openSession = async (order: Order, account: ProviderAccount): Promise<Session> => {
    try {
      return await account.create(order);
    } catch (error) {
      // After any other failure there may be a session: the sweep looks after the row.
      const hasNoSession =
        error instanceof OrderRefused ||
        (error instanceof ProviderFailed && error.reason === 'credentials');
      if (hasNoSession) await payments.deleteUnrecorded(order.project.number, order.paymentId);
      throw toApiError(error);
    }
  };

  return {
    /**
     * Call `commit` in the transaction that stores the answer.
     * @throws ApiError invalid_body, out_of_stock, owner_unverified, too_many_attempts, upstream_failed, timeout
     */
    async start(identity: Identity, body: Body) {
      const { project, caller, userId } = identity;
      const { metadata, onPaid: asked } = body;
      const onPaid = asked ? await onPaidRules.find(project.number, asked) : null;
      const priced = await priceItems(products, identity, { ...body, pays: onPaid?.pays });
      if (onPaid) checkPays(onPaid.pays, priced);
      const { allowedOrigins, verifiedOrigins } = await findOrigins(project.id);
      checkReturnUrl(body.returnUrl, allowedOrigins);
      const isTrusted = isTrustedOrigin(body.returnUrl, {
        trustedOrigins: verifiedOrigins,
        publicUrl,
      });
      const paymentId = uuidv7();
      const target = new URL(body.returnUrl).href;
      const page = `${publicUrl}/api/runtime/${project.id}/payments/return/${paymentId}`;
      const { mode, account } = await accounts.current(project.number);
      await (mode.livemode ? checkOwner(project) : dailyBounds.count(identity));
      // To the second, as Stripe counts: a repeated order must be the same.
      const expiresAt = new Date(Math.floor((now() + sessionMs) / 1000) * 1000);
      const order: Order = {
        paymentId,
        project: { id: project.id, number: project.number },
        userId: caller === 'user' ? userId : null,
        ...priced,
        metadata,
        expiresAt,
        returnUrl: isTrusted ? target : page,
      };
      const returnTarget = isTrusted ? null : target;
      const amount = paymentRoutes.sumItems(priced.items);
      const firstCheckAt = mode.provider === 'stripe' ? new Date(now() + firstCheckMs) : expiresAt;
      await payments.insert({ ...order, amount, returnTarget, onPaid }, mode, firstCheckAt);
      const session = await openSession(order, account);
      return {
        session,
        commit: () => payments.recordSession(project.number, order.paymentId, session),
      };
    },

    /** An open payment is looked up at the provider first; where that fails, the stored status counts. */
    async verify(identity: Identity, sessionOrPaymentId: string): Promise<PaymentRow> {
      const { number: projectNumber } = identity.project;
      const reference = isUuid(sessionOrPaymentId)
        ? { id: sessionOrPaymentId }
        : { sessionId: sessionOrPaymentId };
      const row = await payments.get(projectNumber, reference);
      if (row.status !== 'open') return row;
      await lookups.tryUpdate(identity, row);
      return payments.get(projectNumber, reference);
    },
  };
};
