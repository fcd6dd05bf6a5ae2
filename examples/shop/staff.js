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
  productDetails,
} from './backend.js';

const pollMs = 3000;
let products = [];
let isStaff = false;

/** The id of a product is the shop's to choose, and says what it is. */
const toId = (name) =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 64) || crypto.randomUUID();

let shown = '';
const showOrders = async () => {
  const { items } = await orders.list({ where: { status: 'paid' }, limit: 100 });
  const state = JSON.stringify(items);
  if (state === shown) return;
  shown = state;
  const markSent = (order) =>
    button('Mark as sent', async () => {
      await orders.update(order.id, { data: { sentAt: new Date().toISOString() } });
      await showOrders();
    });
  const withButton = (order) =>
    orderElement(
      order,
      new Map(),
      ...(orderState(order).startsWith('paid') ? [markSent(order)] : []),
    );
  byId('orders').replaceChildren(...items.map(withButton));
};

const edit = ({ name, amount, stock, details }) => {
  const { elements } = byId('product');
  elements.name.value = name;
  elements.price.value = amount / 100;
  elements.stock.value = stock ?? '';
  elements.description.value = details?.description ?? '';
  elements.name.focus();
};

const productElement = (product) => {
  const { id, name, amount, currency, stock, active } = product;
  const change = (changes) => async () => {
    await client.products.set(id, { name, amount, currency, active, ...changes });
    await showProducts();
  };
  return element(
    'li',
    {},
    element('strong', {}, name),
    ` ${money(amount, currency)}, ${stock === null ? 'not counted' : `${stock} in stock`} `,
    button('Edit', () => edit(product)),
    button(active ? 'Take off sale' : 'Put on sale', change({ active: !active })),
  );
};

const showProducts = async () => {
  products = await listProducts();
  byId('products').replaceChildren(...products.map(productElement));
};

const saveDetails = async (product, data) => {
  const known = products.find(({ id }) => id === product)?.details;
  if (known) await productDetails.update(known.id, { data });
  else await productDetails.create({ product, ...data });
};

onSubmit('product', async ({ name, price, stock, description, photo }) => {
  const known = products.find((product) => product.name === name.value);
  const id = known?.id ?? toId(name.value);
  const details = { description: description.value };
  if (photo.files.length > 0) details.photo = (await client.storage.upload(photo.files[0])).url;
  await client.products.set(id, {
    name: name.value,
    amount: Math.round(Number(price.value) * 100),
    stock: stock.value === '' ? null : Number(stock.value),
  });
  await saveDetails(id, details);
  await showProducts();
});

byId('describe').addEventListener('click', ({ target }) =>
  attempt(async () => {
    const { name, description } = byId('product').elements;
    if (!name.reportValidity()) return;
    target.disabled = true;
    try {
      const { text } = await client.ai.generate({
        system: 'You write short, friendly descriptions of products for a small shop.',
        messages: [
          { role: 'user', content: `Describe this product in two sentences: ${name.value}` },
        ],
        maxTokens: 200,
      });
      description.value = text;
    } finally {
      target.disabled = false;
    }
  }),
);

/** New orders are seen within three seconds, and so is a role that was given or taken. */
const poll = async () => {
  try {
    if (!document.hidden && !byId('who').hidden) await show(await client.auth.me());
  } catch {
    // The next look may do.
  }
  setTimeout(poll, pollMs);
};

/** The page only hides what is of no use: who is no staff is refused by the server. */
const show = async (user) => {
  const wasStaff = isStaff;
  isStaff = user?.role === 'staff';
  byId('staff').hidden = !isStaff;
  byId('no-staff').hidden = user === null || isStaff;
  if (!isStaff) return;
  if (!wasStaff) await showProducts();
  await showOrders();
};

for (const link of document.querySelectorAll('a.page')) link.search = location.search;
await keepAccount(show);
void poll();
