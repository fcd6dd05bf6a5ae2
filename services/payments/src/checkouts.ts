import { ApiError, type BodyOf, type ProjectDirectory, paymentRoutes } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { uuidv7 } from 'uuidv7';
import {
  type Checkout,
  CheckoutFailed,
  type Order,
  OrderRefused,
  type Session,
  SessionUnknown,
  type Sold,
} from './checkout/checkout.ts';
import { checkMoney } from './currency.ts';
import { isUuid, type PaymentRow, type Payments, paymentNotFound } from './payments.ts';
import type { Providers } from './providers.ts';
import { checkReturnUrl } from './return-url.ts';

type Body = BodyOf<typeof paymentRoutes.createCheckout>;

/** Stripe allows 24 hours at most; the rest is for clocks that differ. */
const sessionMs = 23 * 60 * 60 * 1000;
/** A webhook should have come by then. */
export const firstCheckMs = 10 * 60 * 1000;
/** A caller waits for the answer about an open session; what is known is good enough. */
const verifyTimeoutMs = 5000;

const notRefundable = (why: string, cause?: unknown) =>
  new ApiError('not_refundable', `This payment can not be refunded: ${why}.`, { cause });

/** The provider's failure in our words. */
const toApiError = (error: unknown): unknown => {
  if (error instanceof OrderRefused) {
    return new ApiError(
      'invalid_body',
      `"${error.field}": the payment provider does not take it.`,
      {
        cause: error,
        hint: 'A total may be too small or too large for its currency, an address unusual.',
      },
    );
  }
  if (!(error instanceof CheckoutFailed)) return error;
  if (error.reason === 'timeout')
    return new ApiError('timeout', 'The payment provider did not answer in time.', {
      cause: error,
    });
  if (error.reason !== 'credentials')
    return new ApiError('upstream_failed', 'The payment provider could not do this.', {
      cause: error,
    });
  const message = 'The payment provider does not accept the keys of this project.';
  const hint = 'Its owner has to set keys that may write Checkout Sessions and Refunds.';
  return new ApiError('upstream_failed', message, { cause: error, hint });
};

export const orderOf = (row: PaymentRow): Order => ({
  paymentId: row.id,
  project: { id: row.project_id, number: row.project_number },
  userId: row.user_id,
  items: row.items,
  currency: row.currency,
  metadata: row.metadata,
  returnUrl: row.return_url,
  expiresAt: row.expires_at,
});

export const soldOf = (row: PaymentRow, sessionId: string): Sold => ({
  paymentId: row.id,
  project: { number: row.project_number },
  sessionId,
  chargeId: row.charge_id,
});

export interface CheckoutsDeps {
  payments: Payments;
  providers: Providers;
  projects: ProjectDirectory;
  now: () => number;
  log: { warn(fields: object, message: string): void };
}

export type Checkouts = ReturnType<typeof createCheckouts>;

/** Payments on their way through a provider, which is asked outside of any transaction. */
export const createCheckouts = ({ payments, providers, projects, now, log }: CheckoutsDeps) => {
  /** Callers that ask about one session at once share one question. */
  const underWay = new Map<string, Promise<void>>();

  /** A list setting: the signed identity leaves it out. */
  const allowedOriginsOf = async (projectId: string) => {
    try {
      return (await projects.findProject(projectId))?.settings.allowedOrigins;
    } catch (cause) {
      throw new ApiError('unavailable', 'The project can not be looked up. Try again shortly.', {
        cause,
        retryAfterSeconds: 2,
      });
    }
  };

  const openSession = async (order: Order, checkout: Checkout): Promise<Session> => {
    try {
      return await checkout.create(order);
    } catch (error) {
      // After any other failure there may be a session: the sweep looks after the row.
      const isCertain =
        error instanceof OrderRefused ||
        (error instanceof CheckoutFailed && error.reason === 'credentials');
      if (isCertain) await payments.forget(order.project.number, order.paymentId);
      throw toApiError(error);
    }
  };

  const ask = async (row: PaymentRow, timeoutMs?: number): Promise<void> => {
    const { project_number: projectNumber, session_id: sessionId } = row;
    if (sessionId === null) return;
    const checkout = await providers.checkoutOf(projectNumber, row.provider);
    const options = timeoutMs === undefined ? {} : { timeoutMs };
    const state = await checkout?.retrieve(soldOf(row, sessionId), options);
    if (!state || state.status === 'open') return;
    await payments.advance(projectNumber, row.id, {
      status: state.status,
      chargeId: state.chargeId,
    });
  };

  return {
    /** @throws SessionUnknown, CheckoutFailed */
    ask,

    /**
     * What becomes true together with the answer is left to `commit`.
     * @throws ApiError invalid_body, upstream_failed, timeout
     */
    async start({ project, caller, userId }: Identity, body: Body) {
      const { items, currency, metadata } = body;
      checkMoney(currency, items);
      checkReturnUrl(body.returnUrl, await allowedOriginsOf(project.id));
      const { provider, checkout } = await providers.current(project.number);
      // To the second, as Stripe counts: asked again, the order must be the same.
      const expiresAt = new Date(Math.floor((now() + sessionMs) / 1000) * 1000);
      const order: Order = {
        paymentId: uuidv7(),
        project: { id: project.id, number: project.number },
        userId: caller === 'user' ? userId : null,
        ...{ items, currency, metadata, expiresAt },
        returnUrl: new URL(body.returnUrl).href,
      };
      const amount = paymentRoutes.totalOf(items);
      await payments.insert({ ...order, amount }, provider, new Date(now() + firstCheckMs));
      const session = await openSession(order, checkout);
      return {
        session,
        commit: () => payments.recordSession(project.number, order.paymentId, session),
      };
    },

    /**
     * An open payment is checked first; where that fails, what is known is answered.
     * @param landedWith the session's id, or the payment's own
     */
    async verify(projectNumber: number, landedWith: string): Promise<PaymentRow> {
      const name = isUuid(landedWith) ? { id: landedWith } : { sessionId: landedWith };
      const row = await payments.get(projectNumber, name);
      if (row.status !== 'open') return row;
      const asked =
        underWay.get(row.id) ?? ask(row, verifyTimeoutMs).finally(() => underWay.delete(row.id));
      underWay.set(row.id, asked);
      try {
        await asked;
      } catch (err) {
        if (!(err instanceof CheckoutFailed) && !(err instanceof SessionUnknown)) throw err;
        log.warn({ err, paymentId: row.id }, 'an open session could not be checked');
      }
      return payments.get(projectNumber, name);
    },

    /** All of it, once. @throws ApiError not_found, not_refundable, upstream_failed, timeout */
    async refund(projectNumber: number, paymentId: string): Promise<PaymentRow> {
      const row = await payments.get(projectNumber, { id: paymentId });
      if (row.status === 'refunded') return row;
      if (row.status !== 'paid') throw notRefundable(`it is ${row.status}`);
      if (row.session_id === null) throw paymentNotFound();
      const checkout = await providers.checkoutOf(projectNumber, row.provider);
      if (!checkout) throw notRefundable('the project has no keys of the account that was paid');
      try {
        await checkout.refund(soldOf(row, row.session_id));
      } catch (error) {
        if (error instanceof SessionUnknown)
          throw notRefundable('the account of the project does not know it', error);
        throw toApiError(error);
      }
      await payments.advance(projectNumber, row.id, { status: 'refunded' });
      return payments.get(projectNumber, { id: paymentId });
    },
  };
};
