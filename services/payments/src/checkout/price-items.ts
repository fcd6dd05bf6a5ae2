import { ApiError, paymentRoutes, type paymentRoutes as Routes } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import type { PaidRecord } from '../payments/payment-row.ts';
import type { ProductRow, Products } from '../products/products.ts';
import { sumByProduct } from '../products/stock.ts';
import { checkMoney } from '../provider/currency.ts';

type OrderedItem = Routes.OrderedItem;

const refuse = (message: string, hint?: string): never => {
  throw new ApiError('invalid_body', message, hint === undefined ? {} : { hint });
};
const productHint = 'Send {"product": "<id>", "quantity": 1} instead of a name and an amount.';

/** @throws ApiError invalid_body where the caller may not set prices */
const checkFreeAmounts = (
  { caller, project }: Identity,
  items: readonly OrderedItem[],
  pays: PaidRecord['pays'],
) => {
  const free = items.findIndex(({ product }) => product === undefined);
  if (free === -1) return;
  if (project.settings.payments === 'products-only')
    refuse(
      `"items.${free}.amount": this project takes payments for its products only.`,
      productHint,
    );
  // Where the rule says how much pays, the payer may say more.
  const isJudged = pays === undefined || (typeof pays === 'object' && 'amount' in pays);
  if (!isJudged && (caller === 'anonymous' || caller === 'user'))
    refuse(`"items.${free}.amount": a payment with "onPaid" is for products only.`, productHint);
};

/** @throws ApiError out_of_stock; what is left when the money arrives decides */
const checkStock = (items: readonly OrderedItem[], products: ReadonlyMap<string, ProductRow>) => {
  for (const [id, quantity] of sumByProduct(items)) {
    const stock = products.get(id)?.stock ?? null;
    if (stock === null || stock >= quantity) continue;
    const index = items.findIndex(({ product }) => product === id);
    const left = stock === 0 ? 'none is left' : `only ${stock} are left`;
    throw new ApiError('out_of_stock', `"items.${index}.product": of "${id}" ${left}.`);
  }
};

/**
 * What the items cost: those that name a product have its name and its amount.
 * @param asked the currency that the caller named
 * @throws ApiError invalid_body that names the item, out_of_stock
 */
export const priceItems = async (
  products: Products,
  identity: Identity,
  order: {
    items: readonly OrderedItem[];
    currency?: string | undefined;
    pays?: PaidRecord['pays'];
  },
): Promise<{ items: Routes.Item[]; currency: string }> => {
  checkFreeAmounts(identity, order.items, order.pays);
  const ids = [...sumByProduct(order.items).keys()];
  const found = await products.findForSale(identity.project.number, ids);
  const [first] = found.values();
  const currency = order.currency ?? first?.currency ?? 'usd';
  const items = order.items.map(({ product: id, name = '', amount = 0, quantity }, index) => {
    if (id === undefined) return { name, amount, quantity };
    const product =
      found.get(id) ?? refuse(`"items.${index}.product": no product "${id}" is for sale here.`);
    if (product.currency !== currency)
      refuse(`"items.${index}.product": its price is in ${product.currency}, not in ${currency}.`);
    return { name: product.name, amount: product.amount, quantity, product: id };
  });
  checkStock(order.items, found);
  if (!paymentRoutes.isPayable(paymentRoutes.sumItems(items)))
    refuse(`"items": ${paymentRoutes.totalRule}`);
  checkMoney(currency, items);
  return { items, currency };
};
