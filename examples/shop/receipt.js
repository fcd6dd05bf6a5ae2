import { attempt, byId, client, element, money, project } from './backend.js';

const parameters = new URLSearchParams(location.search);
byId('back').href = `./?project=${encodeURIComponent(project)}`;

const describeState = ({ payment: { status, paidAt, refundReason }, paid }) => {
  if (paid) return `Paid on ${new Date(paidAt).toLocaleString()}. Thank you!`;
  if (refundReason === 'out_of_stock') return 'Sold out meanwhile: your money is given back.';
  if (parameters.get('canceled') === '1') return 'You canceled. Nothing was paid.';
  return `Not paid yet (${status}).`;
};

const showPayment = (verified) => {
  const { items, amount, currency } = verified.payment;
  byId('state').textContent = describeState(verified);
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
