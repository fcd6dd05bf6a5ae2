import type { Payload, Pays } from '@backlot/contract';

type PaidItem = Payload<'record.paid'>['payment']['items'][number];

interface RecordItem {
  product?: unknown;
  name?: unknown;
  amount?: unknown;
  quantity?: unknown;
}

/** What was paid: a product, or a name at an amount where the price was free. */
const toKey = ({ product, name, amount }: RecordItem): string =>
  JSON.stringify(product === undefined ? ['free', name, amount] : ['product', product]);

const isItem = (value: unknown): value is RecordItem =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Whether a record's `items` are what was paid: the same products in the same quantities, at the same
 * amounts where the record states any. Nothing pays for a record without items.
 */
const itemsMatch = (items: unknown, paid: readonly PaidItem[]): boolean => {
  if (!Array.isArray(items)) return false;
  const amounts = new Map(paid.map((item) => [toKey(item), item.amount]));
  const left = new Map<string, number>();
  for (const item of paid) left.set(toKey(item), (left.get(toKey(item)) ?? 0) + item.quantity);
  for (const item of items) {
    if (!isItem(item)) return false;
    const { amount, quantity = 1 } = item;
    const key = toKey(item);
    if (!Number.isSafeInteger(quantity) || Number(quantity) < 1) return false;
    if (amount !== undefined && amount !== amounts.get(key)) return false;
    left.set(key, (left.get(key) ?? 0) - Number(quantity));
  }
  return [...left.values()].every((quantity) => quantity === 0);
};

/** Whether the payment is what the owner's rule asks for this record. @param items the record's own */
export const isPaid = (
  pays: Pays,
  items: unknown,
  payment: Pick<Payload<'record.paid'>['payment'], 'items' | 'amount' | 'currency'>,
): boolean => {
  if (pays === 'items') return itemsMatch(items, payment.items);
  if ('product' in pays) return payment.items.some(({ product }) => product === pays.product);
  return payment.currency === pays.currency && payment.amount >= pays.amount;
};
