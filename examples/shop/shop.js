import { attempt, byId, client, element, money, project } from './backend.js';

const currency = 'usd';
const shopkeeper = 'shop@example.org';
/** Product id to `{product, quantity}`. */
const basket = new Map();
let user = null;

const showAccount = () => {
  byId('account').hidden = user !== null;
  byId('product').hidden = user === null;
  byId('who').hidden = user === null;
  byId('who-name').textContent = user ? user.email : '';
};

const showBasket = () => {
  const chosen = [...basket.values()];
  byId('basket').hidden = chosen.length === 0;
  byId('basket-items').replaceChildren(
    ...chosen.map(({ product, quantity }) =>
      element(
        'tr',
        {},
        element('td', { textContent: product.name }),
        element('td', { textContent: quantity }),
        element('td', { textContent: money(product.amount * quantity, currency) }),
      ),
    ),
  );
  const total = chosen.reduce((sum, { product, quantity }) => sum + product.amount * quantity, 0);
  byId('basket-total').textContent = money(total, currency);
};

const addToBasket = (product) => {
  const quantity = (basket.get(product.id)?.quantity ?? 0) + 1;
  basket.set(product.id, { product, quantity });
  showBasket();
};

const productElement = (product) => {
  const item = element('li');
  if (product.photo) item.append(element('img', { src: product.photo, alt: '' }));
  item.append(
    element('h3', { textContent: product.name }),
    element('p', { textContent: product.description }),
    element('strong', { textContent: money(product.amount, currency) }),
    element('button', {
      type: 'button',
      textContent: 'Add to basket',
      ariaLabel: `Add ${product.name} to basket`,
      onclick: () => addToBasket(product),
    }),
  );
  return item;
};

const showProducts = async () => {
  const { items } = await client.db('products').list({ sort: '-createdAt', limit: 50 });
  byId('products').replaceChildren(...items.map(productElement));
  byId('no-products').hidden = items.length > 0;
};

/** A mail is HTML: what people wrote goes into it as text. */
const asHtml = (text) => {
  const holder = element('p', { textContent: text });
  return holder.outerHTML.replaceAll('\n', '<br>');
};

byId('account').addEventListener('submit', (event) => {
  event.preventDefault();
  const { email, password } = event.target.elements;
  const isNew = event.submitter?.value === 'signup';
  void attempt(async () => {
    const account = { email: email.value, password: password.value };
    await (isNew ? client.auth.signUp(account) : client.auth.signIn(account));
    event.target.reset();
  });
});

byId('sign-out').addEventListener('click', () => void attempt(() => client.auth.signOut()));

client.auth.onChange((current) => {
  user = current;
  showAccount();
});

byId('describe').addEventListener(
  'click',
  ({ target }) =>
    void attempt(async () => {
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

byId('product').addEventListener('submit', (event) => {
  event.preventDefault();
  const { name, price, description, photo } = event.target.elements;
  void attempt(async () => {
    const data = {
      name: name.value,
      description: description.value,
      amount: Math.round(Number(price.value) * 100),
    };
    if (photo.files.length > 0) data.photo = (await client.storage.upload(photo.files[0])).url;
    await client.db('products').create(data);
    event.target.reset();
    await showProducts();
  });
});

byId('checkout').addEventListener(
  'click',
  () =>
    void attempt(async () => {
      const items = [...basket.values()].map(({ product: { name, amount }, quantity }) => ({
        name,
        amount,
        quantity,
      }));
      const returnUrl = new URL('receipt.html', location.href);
      returnUrl.searchParams.set('project', project);
      const { url } = await client.payments.checkout({
        items,
        currency,
        returnUrl: returnUrl.href,
      });
      location.assign(url);
    }),
);

byId('empty').addEventListener('click', () => {
  basket.clear();
  showBasket();
});

byId('contact').addEventListener('submit', (event) => {
  event.preventDefault();
  const { from, message } = event.target.elements;
  byId('sent').textContent = '';
  void attempt(async () => {
    await client.email.send({
      to: shopkeeper,
      subject: `A question from ${from.value}`,
      html: asHtml(message.value),
    });
    event.target.reset();
    byId('sent').textContent = 'Sent. Thank you!';
  });
});

await attempt(async () => {
  user = await client.auth.me();
});
showAccount();
await attempt(showProducts);
