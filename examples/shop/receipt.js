import { attempt, byId, client, element, money, project } from './backend.js';

const parameters = new URLSearchParams(location.search);
byId('back').href = `./?project=${encodeURIComponent(project)}`;

/** Who is not signed in as the payer learns only whether it was paid. */
const describeState = ({ payment, paid }) => {
  if (!payment) return paid ? 'Paid. Sign in as the payer to see more.' : 'Not paid.';
  const { status, paidAt, refundReason, livemode, closedReason } = payment;
  const play = livemode ? '' : ' This was a test: no money moved.';
  if (paid) return `Paid on ${new Date(paidAt).toLocaleString()}. Thank you!${play}`;
  if (closedReason)
    return 'This payment was closed, and nothing was paid. Start again in the shop.';
  if (refundReason === 'out_of_stock') return 'Sold out meanwhile: your money is given back.';
  if (parameters.get('canceled') === '1') return 'You canceled. Nothing was paid.';
  return `Not paid yet (${status}).`;
};

/** The owner words it, and it goes to the own address of who is signed in. */
const mailReceipt = async ({ items, amount, currency, paidAt, livemode }) => {
  byId('sent').textContent = '';
  await client.email.send({
    template: 'receipt',
    data: {
      total: money(amount, currency),
      paidOn: new Date(paidAt).toLocaleString(),
      test: !livemode,
      items: items.map(({ name, quantity, amount: each }) => ({
        name,
        quantity,
        price: money(each * quantity, currency),
      })),
    },
  });
  byId('sent').textContent = 'Sent.';
};

const showPayment = (verified) => {
  byId('state').textContent = describeState(verified);
  if (!verified.payment) return;
  const { items, amount, currency } = verified.payment;
  byId('items').replaceChildren(
    ...items.map((item) =>
      element(
        'tr',
        {},
        element('td', { textContent: item.name }),
        element('td', { textContent: item.quantity }),
        element('td', { textContent: money(item.amount * item.quantity, currency) }),
      ),
    ),
  );
  byId('total').textContent = money(amount, currency);
  byId('receipt').hidden = false;
  byId('mail').hidden = !verified.paid;
  byId('send').onclick = () => attempt(() => mailReceipt(verified.payment));
};

await attempt(async () => {
  showPayment(await client.payments.verify(parameters.get('session_id') ?? ''));
});
