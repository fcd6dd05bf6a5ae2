import { pathBelow } from '../path.ts';
import type { Transport } from '../transport.ts';
import type { List, PageOptions } from './groups.ts';

/** In the currency's smallest unit: 1999 is 19.99 USD. */
interface FreeItem {
  name: string;
  amount: number;
  quantity?: number;
}

/** At the price that the project's owner has set. */
interface ProductItem {
  product: string;
  quantity?: number;
}

export interface Checkout {
  items: readonly (FreeItem | ProductItem)[];
  /** ISO 4217; that of the products, else `usd`. */
  currency?: string;
  /** Where the payer comes back to, with `session_id` added. */
  returnUrl: string;
  metadata?: Record<string, string | number | boolean>;
  /** The record that the payment changes, once, as a rule of the owner says. */
  onPaid?: { rule: string; recordId: string };
}

export interface Payment {
  id: string;
  sessionId: string;
  status: 'open' | 'paid' | 'failed' | 'expired' | 'refunding' | 'refunded';
  /** Whether real money moves. */
  livemode: boolean;
  amount: number;
  currency: string;
  items: { name: string; amount: number; quantity: number; product?: string }[];
  metadata: Record<string, string>;
  /** What went back of the amount, and what the owner gave back. */
  refundedAmount: number;
  refunds: { id: string; amount: number; status: 'pending' | 'done'; createdAt: string }[];
  /** Why it was given back by itself. */
  refundReason: 'out_of_stock' | null;
  onPaid: {
    rule: string;
    recordId: string;
    outcome:
      | 'unpaid'
      | 'pending'
      | 'done'
      | 'not_found'
      | 'items_differ'
      | 'already_paid'
      | 'not_unique'
      | 'schema_mismatch'
      | 'too_large';
  } | null;
  /** Why it can not be paid: the project takes payments with other keys since. */
  closedReason: 'mode_changed' | null;
  /** When money came that was not for the project's present keys: it paid nothing. */
  latePaidAt: string | null;
  createdAt: string;
  paidAt: string | null;
}

export interface Product {
  id: string;
  name: string;
  /** In the currency's smallest unit. */
  amount: number;
  currency: string;
  /** How many are left; null where nobody counts. */
  stock: number | null;
  /** Whether it is for sale. */
  active: boolean;
  createdAt: string;
  updatedAt: string;
}

/** What an owner or a key says of a product; a stock that is left out stays as it is. */
export interface ProductChange {
  name: string;
  amount: number;
  currency?: string;
  stock?: number | null;
  active?: boolean;
}

export type Payments = ReturnType<typeof createPayments>;
export type Products = ReturnType<typeof createProducts>;

export const createPayments = ({ call }: Transport) => ({
  /** Send the payer to `url`. */
  checkout: (checkout: Checkout) =>
    call<{ url: string; sessionId: string }>('POST', '/payments/checkout', { body: checkout }),
  /** `payment` is for the payer: the user who opened it, or who holds the session where nobody was signed in. */
  verify: (sessionId: string) =>
    call<{ paid: boolean; payment?: Payment }>('GET', '/payments/verify', {
      query: { session_id: sessionId },
    }),
  /** One's own, newest first; an owner or a key sees all. */
  list: (
    options: PageOptions & { status?: Payment['status']; sort?: 'createdAt' | '-createdAt' } = {},
  ) => call<List<Payment>>('GET', '/payments', { query: { ...options } }),
});

const pathTo = (id: string) => pathBelow('/products', id);

export const createProducts = ({ call }: Transport) => ({
  /** Newest first. */
  list: (options: PageOptions = {}) =>
    call<List<Product>>('GET', '/products', { query: { ...options } }),
  get: (id: string) => call<Product>('GET', pathTo(id)),
  /** Creates or replaces it. */
  set: (id: string, product: ProductChange) => call<Product>('PUT', pathTo(id), { body: product }),
  delete: async (id: string): Promise<void> =>
    void (await call('DELETE', pathTo(id), { canRepeat: false })),
});
