import { attempt, byId, client, element, money, project } from './backend.js';

const parameters = new URLSearchParams(location.search);
byId('back').href = `./?project=${encodeURIComponent(project)}`;

const showPayment = ({ payment, paid }) => {
  const { items, amount, currency, status, paidAt } = payment;
  const canceled = parameters.get('canceled') === '1';
  byId('state').textContent = paid
    ? `Paid on ${new Date(paidAt).toLocaleString()}. Thank you!`
    : canceled
      ? 'You canceled. Nothing was paid.'
      : `Not paid yet (${status}).`;
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
