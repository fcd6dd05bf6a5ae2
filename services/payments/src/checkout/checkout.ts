import type { paymentRoutes } from '@backlot/contract';

export const providers = ['test-checkout', 'stripe'] as const;
export type Provider = (typeof providers)[number];

/** What the payer is asked to pay for. */
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
}

/** A session whose payer has begun, but whose money has not arrived, is open. */
export interface SessionState {
  status: 'open' | 'paid' | 'failed' | 'expired' | 'refunded';
  /** What the provider calls the money that moved. */
  chargeId: string | null;
}

/** A payment at its provider. */
export interface Sold {
  paymentId: string;
  project: { number: number };
  sessionId: string;
  chargeId: string | null;
}

export interface AskOptions {
  /** Milliseconds for the whole question; the adapter's own bound without it. */
  timeoutMs?: number;
}

/**
 * One account at a payment provider. Every method throws OrderRefused, SessionUnknown or CheckoutFailed
 * and nothing else; each wait is bounded.
 */
export interface Checkout {
  /** The same session however often it is asked for one payment. @throws OrderRefused */
  create(order: Order): Promise<Session>;
  /** @throws SessionUnknown */
  retrieve(sold: Sold, options?: AskOptions): Promise<SessionState>;
  /** Nobody can pay the session any more; one that is not open stays as it is. @throws SessionUnknown */
  expire(sold: Sold): Promise<void>;
  /** Gives all of it back, once however often it is asked. @throws SessionUnknown where nothing was paid */
  refund(sold: Sold): Promise<void>;
}

/** The provider takes no such order; `field` of the request is why. */
export class OrderRefused extends Error {
  override readonly name = 'OrderRefused';
  readonly field: 'items' | 'currency' | 'returnUrl' | 'metadata';
  constructor(field: OrderRefused['field'], options?: ErrorOptions) {
    super(`The provider refuses "${field}".`, options);
    this.field = field;
  }
}

/** The account knows no such session or payment. */
export class SessionUnknown extends Error {
  override readonly name = 'SessionUnknown';
}

/** The provider could not be asked, or did not do it. */
export class CheckoutFailed extends Error {
  override readonly name = 'CheckoutFailed';
  readonly reason: 'failed' | 'timeout' | 'credentials';
  constructor(reason: CheckoutFailed['reason'], options?: ErrorOptions) {
    super(`The payment provider: ${reason}.`, options);
    this.reason = reason;
  }
}
