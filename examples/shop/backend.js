// The backend of this shop: one project, through the client that every installation serves.
import { createClient } from '/sdk.js';

const parameters = new URLSearchParams(location.search);
export const project = parameters.get('project') ?? 'demo';
export const client = createClient(`${location.origin}/api/runtime/${encodeURIComponent(project)}`);
export const orders = client.db('orders');
/** What a product has besides its name and price: `{product, description, photo}`. */
export const productDetails = client.db('productDetails');

/** Amounts are integers in the currency's smallest unit. */
export const money = (amount, currency) => {
  const format = new Intl.NumberFormat(undefined, { style: 'currency', currency });
  return format.format(amount / 10 ** format.resolvedOptions().maximumFractionDigits);
};

/** An element with its attributes and children; text is never read as HTML. */
export const element = (name, attributes = {}, ...children) => {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...children);
  return made;
};
export const button = (label, onclick, attributes = {}) =>
  element('button', { type: 'button', onclick: () => attempt(onclick), ...attributes }, label);

export const byId = (id) => document.getElementById(id);

/** Shows what went wrong where people look for it. */
export const attempt = async (work) => {
  byId('problem').textContent = '';
  try {
    await work();
  } catch (error) {
    // Forgets a token that is over.
    if (error.code === 'invalid_token') await client.auth.me();
    byId('problem').textContent = error.message;
  }
};

export const onSubmit = (id, work) =>
  byId(id).addEventListener('submit', (event) => {
    event.preventDefault();
    void attempt(async () => {
      await work(event.target.elements, event.submitter);
      event.target.reset();
    });
  });

/** Signs in and out by the form `account`. @param show is told who is signed in, or null, at once and later */
export const keepAccount = async (show) => {
  const showAccount = async (user) => {
    byId('account').hidden = user !== null;
    byId('who').hidden = user === null;
    byId('who-name').textContent = user?.email ?? '';
    await show(user);
  };
  onSubmit('account', async ({ email, password }, submitter) => {
    const account = { email: email.value, password: password.value };
    const isNew = submitter?.value === 'signup';
    await (isNew ? client.auth.signUp(account) : client.auth.signIn(account));
  });
  byId('sign-out').addEventListener('click', () => attempt(() => client.auth.signOut()));
  client.auth.onChange((user) => attempt(() => showAccount(user)));
  await attempt(async () => showAccount(await client.auth.me()));
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
