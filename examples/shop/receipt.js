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
};

await attempt(async () => {
  showPayment(await client.payments.verify(parameters.get('session_id') ?? ''));
});
