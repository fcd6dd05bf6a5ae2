import { ApiError, type paymentRoutes } from '@backlot/contract';

export type ProviderName = 'test-checkout' | 'stripe';

/** What the payer pays for. */
export interface Order {
  paymentId: string;
  project: { id: string; number: number };
  userId: string | null;
  items: paymentRoutes.Item[];
  /** ISO 4217, lower case. */
  currency: string;
  metadata: Record<string, string>;
  /** A valid http(s) address. */
  returnUrl: string;
  expiresAt: Date;
}

export interface Session {
  sessionId: string;
  /** Where the payer pays. */
  url: string;
  /** Whether real money moves. */
  livemode: boolean;
}

/** A session whose payer has begun, but whose money has not arrived, is open. */
export interface SessionState {
  status: 'open' | 'paid' | 'failed' | 'expired' | 'refunded';
  /** What the provider calls the money that moved. */
  chargeId: string | null;
}

/** A payment at its provider. */
export interface ProviderPayment {
  paymentId: string;
  project: { number: number };
  sessionId: string;
  chargeId: string | null;
}

export interface ProviderRefund {
  id: string;
  /** In the currency's smallest unit; null gives back all. */
  amount: number | null;
  /** Nothing is left behind it. */
  isLast: boolean;
  /** It was asked for before, maybe longer ago than the provider remembers. */
  mayExist: boolean;
}

export interface RetrieveOptions {
  /** For the whole call; the adapter's own bound without it. */
  timeoutMs?: number;
}

/**
 * One account at a payment provider. Methods throw OrderRefused, RefundRefused, SessionNotFound or ProviderFailed and
 * nothing else, within a bounded time.
 */
export interface ProviderAccount {
  /** Repeated calls for one payment return the same session. @throws OrderRefused */
  create(order: Order): Promise<Session>;
  /** @throws SessionNotFound */
  retrieve(payment: ProviderPayment, options?: RetrieveOptions): Promise<SessionState>;
  /** Closes an open session to payers; any other one stays as it is. @throws SessionNotFound */
  expire(payment: ProviderPayment): Promise<void>;
  /**
   * A part of what was paid, or all of it: once for a refund's id, however often it is called.
   * @throws SessionNotFound where nothing was paid, RefundRefused where there is not so much left
   */
  refund(payment: ProviderPayment, refund: ProviderRefund): Promise<void>;
}

/** The provider rejects the order because of this field of the request. */
export class OrderRefused extends Error {
  override readonly name = 'OrderRefused';
  readonly field: 'items' | 'currency' | 'returnUrl' | 'metadata';
  constructor(field: OrderRefused['field'], options?: ErrorOptions) {
    super(`The provider refuses "${field}".`, options);
    this.field = field;
  }
}

/** The provider does not give this back: more than is left of the payment. */
export class RefundRefused extends Error {
  override readonly name = 'RefundRefused';
}

/** The account knows no such session or payment. */
export class SessionNotFound extends Error {
  override readonly name = 'SessionNotFound';
}

/** The provider could not be reached, or failed. */
export class ProviderFailed extends Error {
  override readonly name = 'ProviderFailed';
  readonly reason: 'failed' | 'timeout' | 'credentials';
  constructor(reason: ProviderFailed['reason'], options?: ErrorOptions) {
    super(`The payment provider: ${reason}.`, options);
    this.reason = reason;
  }
}

export const checkoutClosed = (message: string, { canChooseTest = false } = {}) =>
  new ApiError('checkout_closed', message, {
    hint: `Its owner sets keys: PUT /api/platform/projects/<id>/secrets/stripe {"secretKey": "sk_…"}${
      canChooseTest ? ', or {"testCheckout": true} for payments that move no money.' : '.'
    }`,
  });
