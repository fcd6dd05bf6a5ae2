import type { PaymentStatus } from '@backlot/contract';
import { type HtmlPage, html } from '@backlot/http';
import type { PaymentRow } from '../payments/payment-row.ts';
import { formatMoney } from '../provider/currency.ts';

export const pageStyle = `
:root { color-scheme: light; font: 16px/1.5 system-ui, sans-serif; color: #1b1f24; background: #f3f4f6 }
* { box-sizing: border-box }
body { margin: 0; padding: 2rem 1rem }
main { max-width: 30rem; margin: 0 auto; padding: 2rem; background: #fff; border-radius: 1rem; box-shadow: 0 1px 3px #0003 }
.test { display: inline-block; padding: .1rem .6rem; border-radius: 1rem; background: #fde68a; color: #5c3d00; font-size: .85rem; font-weight: 600 }
h1 { margin: .75rem 0 0; font-size: 1.1rem; font-weight: 500; overflow-wrap: anywhere }
.total { margin: 0 0 1.5rem; font-size: 2.25rem; font-weight: 700; overflow-wrap: anywhere }
table { width: 100%; border-collapse: collapse; margin-bottom: 1.5rem }
th { text-align: left; font-size: .85rem; font-weight: 600; color: #57606a }
th, td { padding: .4rem .5rem .4rem 0; border-bottom: 1px solid #e5e7eb; vertical-align: top; overflow-wrap: anywhere }
td:not(:first-child), th:not(:first-child) { text-align: right; white-space: nowrap }
td:last-child, th:last-child { padding-right: 0 }
form { display: grid; gap: .75rem }
button, .back { display: block; width: 100%; padding: .8rem; border-radius: .6rem; font: inherit; font-weight: 600; text-align: center; text-decoration: none; cursor: pointer }
button.pay { border: 0; background: #0b57d0; color: #fff }
button.cancel, .back { border: 1px solid #6b7280; background: #fff; color: #1b1f24 }
button:focus-visible, .back:focus-visible { outline: 3px solid #f59e0b; outline-offset: 2px }
.note { margin: 1rem 0 0; font-size: .9rem; color: #57606a }
@media (max-width: 30rem) { body { padding: 0 } main { border-radius: 0; padding: 1.25rem; min-height: 100vh } }
`;

export interface TestCheckoutPage {
  payment: PaymentRow;
  /** The session's: an open one may have expired meanwhile, or been closed with the shop's way to take payments. */
  status: PaymentStatus | 'closed';
  projectName: string;
  /** Where the payer goes after paying. */
  returnUrl: string;
}

const statusTexts: Record<
  Exclude<TestCheckoutPage['status'], 'open'>,
  [title: string, text: string]
> = {
  paid: ['Already paid', 'This payment is complete. There is nothing left to do.'],
  refunding: ['Refunding', 'This payment is being given back.'],
  refunded: ['Refunded', 'This payment was given back.'],
  failed: ['Payment failed', 'This payment did not go through. Start again in the shop.'],
  closed: [
    'Closed',
    'This shop takes payments in another way since this page was opened, and nothing was paid. Start again in the shop.',
  ],
  expired: ['Expired', 'This payment page is no longer valid. Start again in the shop.'],
};

const soldOut: [title: string, text: string] = [
  'Sold out',
  'What you paid for was sold meanwhile. Your payment was given back.',
];

const form = html`<form method="post">
<button class="pay" name="action" value="pay">Pay</button>
<button class="cancel" name="action" value="cancel">Cancel</button>
</form>
<p class="note">This is a test: no card is asked for and no money moves.</p>`;

const table = ({ items, currency }: PaymentRow) => html`<table>
<thead><tr><th scope="col">Item</th><th scope="col">Quantity</th><th scope="col">Price</th></tr></thead>
<tbody>${items.map(
  ({ name, amount, quantity }) => html`
<tr><td>${name}</td><td>${quantity}</td><td>${formatMoney(amount * quantity, currency)}</td></tr>`,
)}
</tbody></table>`;

/** The hosted page of the test checkout, in each of its states. */
export const renderTestCheckout = ({
  payment,
  status,
  projectName,
  returnUrl,
}: TestCheckoutPage): HtmlPage => {
  const total = formatMoney(payment.amount, payment.currency);
  const { origin } = new URL(payment.return_url);
  if (status !== 'open') {
    const isSoldOut = payment.refund_reason === 'out_of_stock';
    const [title, text] = isSoldOut ? soldOut : statusTexts[status];
    return {
      title,
      style: pageStyle,
      content: html`<main><span class="test">Test payment</span><h1>${projectName}: ${total}</h1>
<p class="total">${title}</p><p>${text}</p>
<a class="back" href="${returnUrl}">Back to ${new URL(payment.return_target ?? payment.return_url).host}</a></main>`,
    };
  }
  return {
    title: `Pay ${total} to ${projectName}`,
    style: pageStyle,
    formOrigins: [origin],
    content: html`<main><span class="test">Test payment</span><h1>Pay ${projectName}</h1>
<p class="total">${total}</p>
${table(payment)}
${form}</main>`,
  };
};
