import { createHash } from 'node:crypto';
import { ApiError } from '@backlot/contract';
import { uuidv7 } from 'uuidv7';
import { type PaymentRow, readRefunds, type StoredRefund } from '../payments/payment-row.ts';
import { sumByProduct } from '../products/stock.ts';
import { checkAmount } from '../provider/currency.ts';

/** What the owner asks for. */
export interface RefundWish {
  /** All that is left without it. */
  amount?: number | undefined;
  restock?: readonly { product: string; quantity: number }[] | undefined;
  /** The Idempotency-Key: the same one is the same refund, also where the answer was lost. */
  key?: string | undefined;
}

/** Of one payment. */
const maxRefunds = 50;

export const notRefundable = (why: string, cause?: unknown) =>
  new ApiError('not_refundable', `This payment can not be refunded: ${why}.`, { cause });

const toRefundId = (paymentId: string, key: string | undefined): string => {
  if (key === undefined) return uuidv7();
  const hex = createHash('sha256').update(`${paymentId}\n${key}`).digest('hex');
  const groups = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`];
  return [...groups, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join('-');
};

/** What was neither given back nor is about to be. */
export const leftAmount = (amount: number, refunds: readonly StoredRefund[]): number =>
  refunds.reduce((left, refund) => left - refund.amount, amount);

/** @throws ApiError invalid_body where more would go back than was bought */
const checkRestock = (row: PaymentRow, restock: NonNullable<RefundWish['restock']>): void => {
  const bought = sumByProduct(row.items);
  const wanted = sumByProduct([
    ...readRefunds(row).flatMap((refund) => refund.restock),
    ...restock,
  ]);
  for (const [product, quantity] of wanted) {
    if (quantity <= (bought.get(product) ?? 0)) continue;
    throw new ApiError(
      'invalid_body',
      `"restock": of "${product}" no more can go back than this payment bought.`,
    );
  }
};

/**
 * The refunds to be made, which the payment keeps before the provider is asked: a new one, the one that this key has
 * begun, or those that are under way where all that is left was asked for and nothing is.
 * @throws ApiError not_refundable, conflict, invalid_body
 */
export const planRefund = (row: PaymentRow, wish: RefundWish, now: number): StoredRefund[] => {
  const { amount: asked, restock = [], key } = wish;
  const id = toRefundId(row.id, key);
  const refunds = readRefunds(row);
  if (row.status === 'refunded' && asked === undefined) return refunds;
  if (row.status !== 'paid') throw notRefundable(`it is ${row.status}`);
  const begun = refunds.find((refund) => refund.id === id);
  if (begun) {
    if (asked === undefined || asked === begun.amount) return [begun];
    throw new ApiError('conflict', 'This Idempotency-Key was used for a refund of another amount.');
  }
  const left = leftAmount(row.amount, refunds);
  if (left === 0 && asked === undefined) return refunds;
  const amount = asked ?? left;
  if (amount > left)
    throw notRefundable(left === 0 ? 'nothing is left of it' : `only ${left} is left of it`);
  if (refunds.length >= maxRefunds) throw notRefundable(`it has ${maxRefunds} refunds`);
  checkAmount(row.currency, amount);
  checkRestock(row, restock);
  const createdAt = new Date(now).toISOString();
  const isWhole = amount === row.amount;
  return [{ id, amount, isWhole, restock: [...restock], status: 'pending', createdAt }];
};
