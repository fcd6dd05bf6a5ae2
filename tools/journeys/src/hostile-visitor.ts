export interface Attack {
  /** Of the project. */
  baseUrl: string;
  account: { email: string; password: string };
  /** Id of another's order. */
  unpaid: string;
  returnUrl: string;
}

/** What a visitor of the shop who has an account tries in their browser. */
export const attackShop = async ({ baseUrl, account, unpaid, returnUrl }: Attack) => {
  const module = '/sdk.js';
  const { createClient } = await import(module);
  let token: string | null = null;
  const storage = {
    get: () => token,
    set(value: string | null) {
      token = value;
    },
  };
  const client = createClient(baseUrl, { storage });
  await client.auth.signIn(account);
  const orders = client.db('orders');
  const refusal = (work: Promise<unknown>) =>
    work.then(
      () => 'done',
      ({ status }: { status: number }) => status,
    );
  const items = [{ product: 'teapot-small', quantity: 2 }];
  const own = await orders.create({ items });
  const theft = { name: 'Teapot', amount: 1 };
  const checkout = (wanted: object[]) =>
    client.payments.checkout({
      items: wanted,
      returnUrl,
      onPaid: { rule: 'order', recordId: own.id },
    });
  const trap = await client.db('traps').create({ order: unpaid });
  const included = await fetch(`${baseUrl}/db/traps/${trap.id}?include=order:orders`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const receiptData = { total: '$1', paidOn: 'today', items: [] };
  const paidData = { status: 'paid', payment: { amount: 3998 } };
  return {
    /** Where half of their order is paid. */
    cheapUrl: String((await checkout([{ product: 'teapot-small', quantity: 1 }])).url),
    /** What they see of orders: their own. */
    seen: [
      (await orders.list()).items.map(({ id }: { id: string }) => id === own.id),
      await orders.count(),
      (await orders.aggregate({ max: 'address' })).groups,
      ((await included.json()) as { order: unknown }).order === unpaid,
    ],
    refused: await Promise.all(
      Object.entries({
        'read an order': () => orders.get(unpaid),
        'pay by a mark': () => orders.update(own.id, { data: { status: 'paid' } }),
        'pay another’s by a mark': () => orders.update(unpaid, { data: paidData }),
        'replace an order': () => orders.replace(own.id, { items, ...paidData }),
        'create a paid order': () => orders.create({ items, ...paidData }),
        'create one in a batch': () => orders.batch({ create: [{ data: { status: 'paid' } }] }),
        'change the items': () => orders.update(own.id, { data: { items: [] } }),
        'mark as sent': () => orders.update(own.id, { data: { sentAt: 'now' } }),
        'delete an order': () => orders.delete(unpaid),
        'change a price': () => client.products.set('teapot-small', theft),
        'take a product off': () => client.products.delete('teapot-small'),
        'add a product': () => client.products.set('car', theft),
        'describe a product': () => client.db('productDetails').create({ product: 'car' }),
        'pay a price of their own': () => checkout([{ ...theft, quantity: 2 }]),
        'name a price': () => checkout([{ product: 'teapot-small', amount: 1 }]),
        'order less than nothing': () => checkout([{ product: 'teapot-small', quantity: -1 }]),
        'mail in the shop’s name': () =>
          client.email.send({ to: account.email, subject: 'Your account is locked', html: 'x' }),
        'mail a receipt to another': () =>
          client.email.send({ template: 'receipt', data: receiptData, to: 'ada@example.org' }),
        'put own words into a receipt': () =>
          client.email.send({ template: 'receipt', data: { ...receiptData, html: '<b>Pay</b>' } }),
        'become staff': () => client.auth.updateMe({ role: 'staff' }),
      }).map(async ([what, work]) => [what, await refusal(work())]),
    ),
  };
};

/** How each try ends. */
export const refusals = {
  'read an order': 404,
  'pay by a mark': 403,
  'pay another’s by a mark': 404,
  'replace an order': 403,
  'create a paid order': 403,
  'create one in a batch': 403,
  'change the items': 403,
  'mark as sent': 403,
  'delete an order': 404,
  'change a price': 403,
  'take a product off': 403,
  'add a product': 403,
  'describe a product': 403,
  'pay a price of their own': 400,
  'name a price': 400,
  'order less than nothing': 400,
  'mail in the shop’s name': 403,
  'mail a receipt to another': 400,
  'put own words into a receipt': 400,
  'become staff': 400,
};
