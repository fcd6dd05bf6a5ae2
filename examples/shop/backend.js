// The backend of this shop: one project, through the client that every installation serves.
import { client, element } from '../page.js';

export {
  attempt,
  button,
  byId,
  client,
  element,
  keepAccount,
  onSubmit,
  project,
} from '../page.js';

export const orders = client.db('orders');
/** What a product has besides its name and price: `{product, description, photo}`. */
export const productDetails = client.db('productDetails');

/** Amounts are integers in the currency's smallest unit. */
export const money = (amount, currency) => {
  const format = new Intl.NumberFormat(undefined, { style: 'currency', currency });
  return format.format(amount / 10 ** format.resolvedOptions().maximumFractionDigits);
};

/** Products with what else is known of them, newest first. */
export const listProducts = async () => {
  const [{ items }, details] = await Promise.all([
    client.products.list({ limit: 100 }),
    productDetails.list({ limit: 1000 }),
  ]);
  const byProduct = new Map(details.items.map((record) => [record.product, record]));
  return items.map((product) => ({ ...product, details: byProduct.get(product.id) }));
};

/**
 * Where an order stands. Its payment alone sets `status` and says whether real money moved, the staff alone
 * set `sentAt`.
 */
export const orderState = ({ status, sentAt, payment }) => {
  if (sentAt) return 'sent';
  if (status !== 'paid') return 'not paid';
  return payment?.livemode ? 'paid' : 'paid with play money';
};

/** What was paid, which no buyer can change; before that what is ordered. */
const orderItems = ({ payment, items }, names) =>
  payment?.items ?? items.map((item) => ({ name: names.get(item.product), ...item }));

/** @param names of products by their ids */
export const orderElement = (order, names, ...children) => {
  const items = orderItems(order, names).map(({ name, quantity }) => `${quantity} × ${name}`);
  return element(
    'li',
    {},
    element('strong', {}, orderState(order)),
    element('p', {}, items.join(', ')),
    element('p', {}, order.address ?? ''),
    element('small', {}, new Date(order.createdAt).toLocaleString()),
    ...children,
  );
};
