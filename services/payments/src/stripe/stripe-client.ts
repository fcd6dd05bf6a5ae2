import pTimeout, { TimeoutError } from 'p-timeout';
import { Stripe as StripeSdk } from 'stripe';
import { z } from 'zod';
import type { StripeSettings } from '../config.ts';
import {
  OrderRefused,
  type ProviderAccount,
  ProviderFailed,
  RefundRefused,
  SessionNotFound,
} from '../provider/provider.ts';
import { sessionParams } from './stripe-order.ts';
import { readChargeId, readSessionState, session } from './stripe-session.ts';

export interface Stripe {
  /** @param secretKey of the account that is paid */
  account(secretKey: string): ProviderAccount;
  /**
   * Whether the key may do what a checkout needs. What a restricted key may write shows in calls about
   * objects that do not exist: they change nothing, and Stripe tells "not allowed" from "not found".
   * @throws ProviderFailed; `credentials` where it may not
   */
  check(secretKey: string): Promise<void>;
}

const { errors } = StripeSdk;
const createdSession = session.extend({ url: z.string().min(1), livemode: z.boolean() });
const createdRefund = z.object({ id: z.string(), status: z.string().nullish() });
const refundList = z.object({
  data: z.array(
    createdRefund.extend({
      metadata: z.object({ backlot_refund: z.string().optional() }).nullish(),
    }),
  ),
});
const sessionList = z.object({ data: z.array(z.unknown()) });

const fields: [prefix: string, field: OrderRefused['field']][] = [
  ['success_url', 'returnUrl'],
  ['cancel_url', 'returnUrl'],
  ['metadata', 'metadata'],
  ['line_items', 'items'],
  ['currency', 'currency'],
];

const findRefusedField = ({ code, param = '' }: InstanceType<typeof errors.StripeError>) => {
  if (code === 'amount_too_small' || code === 'amount_too_large') return 'items';
  if (param.endsWith('[currency]')) return 'currency';
  return fields.find(([prefix]) => param.startsWith(prefix))?.[1];
};

const translate = (cause: unknown): Error => {
  if (cause instanceof RefundRefused) return cause;
  if (cause instanceof TimeoutError) return new ProviderFailed('timeout', { cause });
  if (
    cause instanceof errors.StripeAuthenticationError ||
    cause instanceof errors.StripePermissionError
  )
    return new ProviderFailed('credentials', { cause });
  if (cause instanceof errors.StripeInvalidRequestError) {
    if (cause.code === 'resource_missing') return new SessionNotFound('', { cause });
    const field = findRefusedField(cause);
    if (field) return new OrderRefused(field, { cause });
  }
  const isTimeout = cause instanceof errors.StripeConnectionError && /timeout/i.test(cause.message);
  return new ProviderFailed(isTimeout ? 'timeout' : 'failed', { cause });
};

/**
 * Payments by Stripe, each project with its own account. One client serves all of them: a key belongs to
 * a call. Answers are checked, because the SDK takes any object for one.
 */
export const createStripeClient = ({ url, timeoutMs, retries }: StripeSettings): Stripe => {
  const { protocol, hostname, port } = new URL(url);
  const client = new StripeSdk('every call brings its own', {
    protocol: protocol === 'http:' ? 'http' : 'https',
    host: hostname,
    ...(port === '' ? {} : { port }),
    timeout: timeoutMs,
    maxNetworkRetries: retries,
    telemetry: false,
  });
  // Each attempt, and the SDK's pause before the next one.
  const longestMs = (timeoutMs + 1000) * (retries + 1);

  const ask = async <T extends z.ZodType>(
    answer: T,
    question: Promise<unknown>,
    limitMs = longestMs,
  ): Promise<z.output<T>> => {
    try {
      // The SDK's time-out is one of silence: this one also ends an answer that drips in.
      return answer.parse(await pTimeout(question, { milliseconds: limitMs }));
    } catch (cause) {
      throw translate(cause);
    }
  };
  const checkWrite = (question: Promise<unknown>) =>
    ask(
      z.unknown(),
      question.catch((error: unknown) => {
        if (!(error instanceof errors.StripeInvalidRequestError)) throw error;
      }),
    );
  const { sessions } = client.checkout;

  /** @throws RefundRefused where the rest that Stripe knows of is smaller */
  const createRefund = async (
    apiKey: string,
    { id, amount, paymentIntent }: { id: string; amount: number | null; paymentIntent: string },
  ): Promise<unknown> => {
    const params = {
      payment_intent: paymentIntent,
      metadata: { backlot_refund: id },
      ...(amount === null ? {} : { amount }),
    };
    try {
      return await client.refunds.create(params, {
        apiKey,
        idempotencyKey: `backlot-refund-${id}`,
      });
    } catch (error) {
      if (!(error instanceof errors.StripeInvalidRequestError)) throw error;
      if (error.code === 'charge_already_refunded' && amount === null)
        return { id: '', status: 'succeeded' };
      if (error.code === 'resource_missing') throw error;
      throw new RefundRefused('', { cause: error });
    }
  };

  const findRefund = async (apiKey: string, paymentIntent: string, id: string) => {
    const found = client.refunds.list({ payment_intent: paymentIntent, limit: 100 }, { apiKey });
    const { data } = await ask(refundList, found);
    return data.find(({ metadata }) => metadata?.backlot_refund === id);
  };

  return {
    async check(apiKey) {
      await ask(sessionList, sessions.list({ limit: 1 }, { apiKey }));
      if (!apiKey.startsWith('rk_')) return;
      await checkWrite(sessions.expire('cs_backlot_key_check', {}, { apiKey }));
      const refund = { payment_intent: 'pi_backlot_key_check' };
      await checkWrite(client.refunds.create(refund, { apiKey }));
    },

    account: (apiKey) => ({
      async create(order) {
        const idempotencyKey = `backlot-checkout-${order.paymentId}`;
        const params = sessionParams(order);
        const opened = await ask(
          createdSession,
          sessions.create(params, { apiKey, idempotencyKey }),
        );
        return { sessionId: opened.id, url: opened.url, livemode: opened.livemode };
      },

      async retrieve({ sessionId }, { timeoutMs: limitMs } = {}) {
        const options = {
          apiKey,
          ...(limitMs === undefined ? {} : { timeout: limitMs, maxNetworkRetries: 0 }),
        };
        const expand = { expand: ['payment_intent.latest_charge'] };
        return readSessionState(
          await ask(session, sessions.retrieve(sessionId, expand, options), limitMs),
        );
      },

      async expire({ sessionId }) {
        const found = await ask(session, sessions.retrieve(sessionId, {}, { apiKey }));
        if (found.status !== 'open') return;
        await ask(session, sessions.expire(sessionId, {}, { apiKey }));
      },

      async refund({ sessionId, chargeId }, { id, amount, mayExist }) {
        const paymentIntent =
          chargeId ??
          readChargeId(await ask(session, sessions.retrieve(sessionId, {}, { apiKey })));
        if (paymentIntent === null) throw new SessionNotFound();
        // Stripe may have forgotten the key after a day.
        const made = mayExist ? await findRefund(apiKey, paymentIntent, id) : undefined;
        const { status } =
          made ?? (await ask(createdRefund, createRefund(apiKey, { id, amount, paymentIntent })));
        if (status === 'failed' || status === 'canceled') throw new RefundRefused();
      },
    }),
  };
};
