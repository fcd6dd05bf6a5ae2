import { type HtmlPage, html } from '@backlot/http';
import { paymentNotFound } from '../payments/payment-row.ts';
import type { Payments } from '../payments/payments.ts';
import { landingUrl } from '../provider/return-url.ts';

export type ReturnPages = ReturnType<typeof createReturnPages>;

/** Between a provider and an address that nobody has verified: it names the host, and leads nowhere by itself. */
export const createReturnPages = (payments: Payments) => ({
  /** The target is the stored one, never one of the request. @throws ApiError not_found */
  async show(
    project: { number: number; name: string },
    paymentId: string,
    outcome: 'done' | 'canceled',
  ): Promise<HtmlPage> {
    const payment = await payments.get(project.number, { id: paymentId });
    if (payment.return_target === null) throw paymentNotFound();
    const { host } = new URL(payment.return_target);
    const landing = landingUrl(payment.return_target, payment.session_id ?? '', outcome);
    const what =
      outcome === 'done' ? 'The payment page is complete.' : 'You cancelled the payment.';
    return {
      title: `Continue to ${host}`,
      content: html`<main class="page narrow"><h1>${project.name}</h1><p>${what}</p>
<p>The way back leads to <strong>${host}</strong>. This service has not verified who owns that address. Go on only if it is where you came from.</p>
<a class="button large" href="${landing}" rel="noreferrer">Continue to ${host}</a></main>`,
    };
  },
});
