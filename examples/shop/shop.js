import {
  attempt,
  button,
  byId,
  client,
  element,
  keepAccount,
  listProducts,
  money,
  onSubmit,
  orderElement,
  orderState,
  orders,
  project,
} from './backend.js';

/** Product id to `{product, quantity}`. The prices in it are for show: what is paid, the server knows. */
const basket = new Map();
let names = new Map();
let user = null;

const showBasket = () => {
  const chosen = [...basket.values()];
  byId('basket').hidden = chosen.length === 0;
  byId('no-basket').hidden = chosen.length > 0;
  byId('basket-items').replaceChildren(
    ...chosen.map(({ product, quantity }) =>
      element(
        'tr',
        {},
        element('td', {}, product.name),
        element('td', {}, quantity),
        element('td', {}, money(product.amount * quantity, product.currency)),
      ),
    ),
  );
  const total = chosen.reduce((sum, { product, quantity }) => sum + product.amount * quantity, 0);
  byId('basket-total').textContent = money(total, chosen[0]?.product.currency ?? 'usd');
};

const addToBasket = (product) => {
  const quantity = (basket.get(product.id)?.quantity ?? 0) + 1;
  basket.set(product.id, { product, quantity });
  showBasket();
};

const productElement = (product) => {
  const { name, amount, currency, stock, details = {} } = product;
  const item = element('li');
  if (details.photo) item.append(element('img', { src: details.photo, alt: '' }));
  item.append(
    element('h3', {}, name),
    element('p', {}, details.description ?? ''),
    element('strong', {}, money(amount, currency)),
    stock === 0
      ? element('em', {}, 'Sold out')
      : button('Add to basket', () => addToBasket(product), {
          ariaLabel: `Add ${name} to basket`,
        }),
  );
  return item;
};

const showProducts = async () => {
  const products = await listProducts();
  names = new Map(products.map(({ id, name }) => [id, name]));
  const onSale = products.filter(({ active }) => active);
  byId('products').replaceChildren(...onSale.map(productElement));
  byId('no-products').hidden = onSale.length > 0;
};

/** The payment marks the order; the rule `order` of the project's owner says how. */
const pay = async ({ id, items }) => {
  const returnUrl = new URL('receipt.html', location.href);
  returnUrl.searchParams.set('project', project);
  const { url } = await client.payments.checkout({
    items: items.map(({ product, quantity }) => ({ product, quantity })),
    returnUrl: returnUrl.href,
    onPaid: { rule: 'order', recordId: id },
  });
  location.assign(url);
};

const showOrders = async () => {
  byId('own-orders').hidden = user === null;
  const { items } = user ? await orders.list({ mine: true, limit: 50 }) : { items: [] };
  byId('no-orders').hidden = items.length > 0;
  const withPayment = (order) =>
    orderElement(
      order,
      names,
      ...(orderState(order) === 'not paid' ? [button('Pay', () => pay(order))] : []),
    );
  byId('orders').replaceChildren(...items.map(withPayment));
};

onSubmit('basket', async ({ address }) => {
  if (user === null) throw new Error('Sign in to order.');
  const items = [...basket.values()].map(({ product, quantity }) => ({
    product: product.id,
    quantity,
  }));
  const order = await orders.create({ items, address: address.value });
  basket.clear();
  await pay(order);
});

byId('empty').addEventListener('click', () => {
  basket.clear();
  showBasket();
});

onSubmit('contact', async ({ from, message }) => {
  byId('sent').textContent = '';
  await client.email.send({
    template: 'question',
    data: { from: from.value, message: message.value },
    replyTo: from.value,
  });
  byId('sent').textContent = 'Sent. Thank you!';
});

for (const link of document.querySelectorAll('a.page')) link.search = location.search;
await attempt(showProducts);
await keepAccount(async (current) => {
  user = current;
  await showOrders();
});
