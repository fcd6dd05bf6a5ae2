import type { PaymentStatus } from '@backlot/contract';
import { type HtmlPage, html } from '@backlot/http';
import type { PaymentRow } from '../payments/payment-row.ts';
import { formatMoney } from '../provider/currency.ts';

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

const form = html`<form method="post" class="stack close">
<button class="primary large" name="action" value="pay">Pay</button>
<button class="large" name="action" value="fail">Let it fail</button>
<button class="large" name="action" value="cancel">Cancel</button>
</form>
<p class="quiet-text">This is a test: no card is asked for and no money moves.</p>`;

const table = ({ items, currency }: PaymentRow) => html`<table class="table">
<thead><tr><th scope="col">Item</th><th scope="col" class="number">Quantity</th><th scope="col" class="number">Price</th></tr></thead>
<tbody>${items.map(
  ({ name, amount, quantity }) => html`
<tr><td class="wraps">${name}</td><td class="number">${quantity}</td><td class="number">${formatMoney(amount * quantity, currency)}</td></tr>`,
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
      content: html`<main class="page narrow"><div class="stack close"><p><span class="badge warn">Test payment</span></p><h1>${projectName}: ${total}</h1>
<p class="headline">${title}</p><p>${text}</p></div>
<a class="button large" href="${returnUrl}">Back to ${new URL(payment.return_target ?? payment.return_url).host}</a></main>`,
    };
  }
  return {
    title: `Pay ${total} to ${projectName}`,
    formOrigins: [origin],
    content: html`<main class="page narrow"><div class="stack close"><p><span class="badge warn">Test payment</span></p><h1>Pay ${projectName}</h1>
<p class="headline">${total}</p></div>
${table(payment)}
${form}</main>`,
  };
};
