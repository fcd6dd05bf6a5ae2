import { toRequester } from '@backlot/fair-shares';
import type { Identity } from '@backlot/identity';
import { type PaymentRow, paymentNotFound, toProviderPayment } from '../payments/payment-row.ts';
import type { Payments } from '../payments/payments.ts';
import type { SettleInTurn } from '../payments/settle-in-turn.ts';
import { isSameMode, type Modes } from '../provider/modes.ts';
import { checkoutClosed, SessionNotFound } from '../provider/provider.ts';
import { landingUrl } from '../provider/return-url.ts';
import type { TestCheckoutPage } from './page.ts';
import type { TestCheckout } from './provider.ts';

export interface TestSessionsDeps {
  payments: Payments;
  modes: Modes;
  settleInTurn: SettleInTurn;
  testCheckout: TestCheckout;
  isTestCheckoutOn: boolean;
}

export type TestSessions = ReturnType<typeof createTestSessions>;

/** What the payer sees and does on the page of the test checkout. */
export const createTestSessions = (deps: TestSessionsDeps) => {
  const { payments, modes, settleInTurn, testCheckout, isTestCheckoutOn } = deps;
  const find = async (projectNumber: number, sessionId: string): Promise<PaymentRow> => {
    const row = await payments.get(projectNumber, { sessionId });
    if (row.provider !== 'test-checkout') throw paymentNotFound();
    return row;
  };

  /** By a change of the project's keys: it was opened under others. */
  const isClosed = async (payment: PaymentRow): Promise<boolean> => {
    if (payment.status !== 'open' && payment.status !== 'expired') return false;
    if (payment.closed_reason !== null) return true;
    const current = await modes.current(payment.project_number);
    return current !== undefined && !isSameMode(payment, current);
  };

  /** @throws ApiError not_found */
  const show = async (
    project: { number: number; name: string },
    sessionId: string,
  ): Promise<TestCheckoutPage> => {
    const payment = await find(project.number, sessionId);
    const { status } = await testCheckout
      .retrieve(toProviderPayment(payment, sessionId))
      .catch((error: unknown) => {
        throw error instanceof SessionNotFound ? paymentNotFound() : error;
      });
    const returnUrl = landingUrl(payment.return_url, sessionId, 'done');
    const state = payment.status === 'failed' ? 'failed' : status;
    const shown = (await isClosed(payment)) ? 'closed' : state;
    return { payment, status: shown, projectName: project.name, returnUrl };
  };

  return {
    show,

    /**
     * Once, however often the button is pressed: where the payer lands, or what the page says instead.
     * @throws ApiError not_found, checkout_closed
     */
    async pay(identity: Identity, sessionId: string) {
      const { project } = identity;
      const { id } = await find(project.number, sessionId);
      if (!isTestCheckoutOn) throw checkoutClosed('The test checkout is switched off here.');
      await settleInTurn.run(toRequester(identity), async () => {
        if (!(await payments.lockPayable(project.number, id))) return;
        if (!(await testCheckout.pay(project.number, sessionId))) return;
        await payments.advance(project.number, id, { status: 'paid', chargeId: sessionId });
        const paid = await payments.get(project.number, { id });
        if (paid.status !== 'refunding') return;
        const all = { id, amount: null, isLast: true, mayExist: false };
        await testCheckout.refund(toProviderPayment(paid, sessionId), all);
        await payments.advance(project.number, id, { status: 'refunded' });
      });
      const page = await show(project, sessionId);
      return page.status === 'paid' ? { redirect: page.returnUrl } : page;
    },

    /** As a card that is refused after the payer has left: once. @throws ApiError not_found, checkout_closed */
    async fail(identity: Identity, sessionId: string) {
      const { project } = identity;
      const { id } = await find(project.number, sessionId);
      if (!isTestCheckoutOn) throw checkoutClosed('The test checkout is switched off here.');
      await settleInTurn.run(toRequester(identity), async () => {
        if (!(await payments.lockPayable(project.number, id))) return;
        if (!(await testCheckout.fail(project.number, sessionId))) return;
        await payments.advance(project.number, id, { status: 'failed' });
      });
      const page = await show(project, sessionId);
      return page.status === 'failed' ? { redirect: page.returnUrl } : page;
    },

    /** The session stays as it is. @throws ApiError not_found */
    async cancel({ project }: Identity, sessionId: string) {
      const page = await show(project, sessionId);
      if (page.status !== 'open') return page;
      return { redirect: landingUrl(page.payment.return_url, sessionId, 'canceled') };
    },
  };
};
