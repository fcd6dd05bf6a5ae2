import {
  ApiError,
  isUuid,
  type ProjectDirectory,
  paymentRoutes,
  type RouteBody,
} from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { uuidv7 } from 'uuidv7';
import type { OnPaidRules } from '../on-paid/rules.ts';
import { type PaymentRow, paymentNotFound, toProviderPayment } from '../payments/payment-row.ts';
import type { Payments } from '../payments/payments.ts';
import type { Products } from '../products/products.ts';
import type { DailyBounds } from './daily-bounds.ts';
import type { Lookups } from './lookups.ts';
import type { OwnerCheck } from './owner-check.ts';
import { priceItems } from './price-items.ts';
import {
  type Order,
  OrderRefused,
  type ProviderAccount,
  ProviderFailed,
  type Session,
  SessionNotFound,
} from './provider.ts';
import type { ProviderAccounts } from './provider-accounts.ts';
import { checkReturnUrl, isTrustedOrigin } from './return-url.ts';

type Body = RouteBody<typeof paymentRoutes.createCheckout>;

/** Stripe allows 24 hours at most; the rest is for clocks that differ. */
const sessionMs = 23 * 60 * 60 * 1000;
/** Stripe's webhook should have come by then; of the test checkout only a session's end has to be found. */
const firstCheckMs = 10 * 60 * 1000;

const notRefundable = (why: string, cause?: unknown) =>
  new ApiError('not_refundable', `This payment can not be refunded: ${why}.`, { cause });

const toApiError = (cause: unknown): unknown => {
  if (cause instanceof OrderRefused) {
    const hint = 'A total may be too small or too large for its currency, an address unusual.';
    const message = `"${cause.field}": the payment provider does not take it.`;
    return new ApiError('invalid_body', message, { cause, hint });
  }
  if (!(cause instanceof ProviderFailed)) return cause;
  if (cause.reason === 'timeout')
    return new ApiError('timeout', 'The payment provider did not answer in time.', { cause });
  if (cause.reason === 'failed')
    return new ApiError('upstream_failed', 'The payment provider could not do this.', { cause });
  const message = 'The payment provider does not accept the keys of this project.';
  const hint = 'Its owner has to set keys that may write Checkout Sessions and Refunds.';
  return new ApiError('upstream_failed', message, { cause, hint });
};

export interface CheckoutsDeps {
  payments: Payments;
  products: Products;
  onPaidRules: OnPaidRules;
  accounts: ProviderAccounts;
  lookups: Lookups;
  dailyBounds: DailyBounds;
  checkOwner: OwnerCheck;
  projects: ProjectDirectory;
  /** Origin and path prefix of the gateway. */
  publicUrl: string;
  now: () => number;
}

export type Checkouts = ReturnType<typeof createCheckouts>;

/** Payments on their way through a provider, which is called outside of any transaction. */
export const createCheckouts = (deps: CheckoutsDeps) => {
  const { payments, products, onPaidRules, accounts, dailyBounds, checkOwner } = deps;
  const { lookups, projects, publicUrl, now } = deps;

  /** Lists: the signed identity leaves them out. */
  const findOrigins = async (projectId: string) => {
    try {
      const project = await projects.findProject(projectId);
      const { allowedOrigins = [] } = project?.settings ?? {};
      return { allowedOrigins, verifiedOrigins: project?.verifiedOrigins ?? [] };
    } catch (cause) {
      throw new ApiError('unavailable', 'The project can not be looked up. Try again shortly.', {
        cause,
        retryAfterSeconds: 2,
      });
    }
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
      const priced = await priceItems(products, identity, {
        ...body,
        isForRecord: asked !== undefined,
      });
      const onPaid = asked ? await onPaidRules.apply(project.number, asked) : null;
      const { allowedOrigins, verifiedOrigins } = await findOrigins(project.id);
      checkReturnUrl(body.returnUrl, allowedOrigins);
      const isTrusted = isTrustedOrigin(body.returnUrl, {
        trustedOrigins: verifiedOrigins,
        publicUrl,
      });
      const paymentId = uuidv7();
      const target = new URL(body.returnUrl).href;
      const page = `${publicUrl}/api/runtime/${project.id}/payments/return/${paymentId}`;
      const { provider, account, isLive } = await accounts.current(project.number);
      await (isLive ? checkOwner(project) : dailyBounds.count(identity));
      // To the second, as Stripe counts: a repeated order must be the same.
      const expiresAt = new Date(Math.floor((now() + sessionMs) / 1000) * 1000);
      const order: Order = {
        paymentId,
        project: { id: project.id, number: project.number },
        userId: caller === 'user' ? userId : null,
        ...{ ...priced, metadata, expiresAt },
        returnUrl: isTrusted ? target : page,
      };
      const returnTarget = isTrusted ? null : target;
      const amount = paymentRoutes.sumItems(priced.items);
      const firstCheckAt = provider === 'stripe' ? new Date(now() + firstCheckMs) : expiresAt;
      await payments.insert({ ...order, amount, returnTarget, onPaid }, provider, firstCheckAt);
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

    /** All of it, once. @throws ApiError not_found, not_refundable, upstream_failed, timeout */
    async refund(projectNumber: number, paymentId: string): Promise<PaymentRow> {
      const row = await payments.get(projectNumber, { id: paymentId });
      if (row.status === 'refunded') return row;
      if (row.status !== 'paid' && row.status !== 'refunding')
        throw notRefundable(`it is ${row.status}`);
      if (row.session_id === null) throw paymentNotFound();
      const account = await accounts.find(projectNumber, row.provider);
      if (!account) throw notRefundable('the project has no keys of the account that was paid');
      try {
        await account.refund(toProviderPayment(row, row.session_id));
      } catch (error) {
        if (error instanceof SessionNotFound)
          throw notRefundable('the account of the project does not know it', error);
        throw toApiError(error);
      }
      await payments.advance(projectNumber, row.id, { status: 'refunded' });
      return payments.get(projectNumber, { id: paymentId });
    },
  };
};
