import type { Database } from '@backlot/database';
import { SessionUnknown } from './checkout/checkout.ts';
import type { TestCheckout } from './checkout/hosted-test.ts';
import { soldOf } from './checkouts.ts';
import type { TestPage } from './hosted-page.ts';
import { type PaymentRow, type Payments, paymentNotFound } from './payments.ts';
import { landingUrl } from './return-url.ts';

export interface TestSessionsDeps {
  database: Database;
  payments: Payments;
  testCheckout: TestCheckout;
}

export type TestSessions = ReturnType<typeof createTestSessions>;

/** What the payer sees and does on the page of the test checkout. */
export const createTestSessions = ({ database, payments, testCheckout }: TestSessionsDeps) => {
  const find = async (projectNumber: number, sessionId: string): Promise<PaymentRow> => {
    const row = await payments.get(projectNumber, { sessionId });
    if (row.provider !== 'test-checkout') throw paymentNotFound();
    return row;
  };

  /** @throws ApiError not_found */
  const show = async (
    project: { number: number; name: string },
    sessionId: string,
  ): Promise<TestPage> => {
    const payment = await find(project.number, sessionId);
    const { status } = await testCheckout
      .retrieve(soldOf(payment, sessionId))
      .catch((error: unknown) => {
        throw error instanceof SessionUnknown ? paymentNotFound() : error;
      });
    const landing = landingUrl(payment.return_url, sessionId, 'done');
    return { payment, status, projectName: project.name, landing };
  };

  return {
    show,

    /**
     * Once, however often the button is pressed: where the payer lands, or what the page says instead.
     * @throws ApiError not_found
     */
    async pay(project: { number: number; name: string }, sessionId: string) {
      const { id } = await find(project.number, sessionId);
      await database.transaction(async () => {
        if (!(await testCheckout.pay(project.number, sessionId))) return;
        await payments.advance(project.number, id, { status: 'paid', chargeId: sessionId });
      });
      const page = await show(project, sessionId);
      return page.status === 'paid' ? { redirect: page.landing } : page;
    },

    /** The session stays as it is. @throws ApiError not_found */
    async cancel(project: { number: number; name: string }, sessionId: string) {
      const page = await show(project, sessionId);
      if (page.status !== 'open') return page;
      return { redirect: landingUrl(page.payment.return_url, sessionId, 'canceled') };
    },
  };
};
