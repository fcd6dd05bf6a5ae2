import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { readStripeEvent, SignatureInvalid, type StripeEvent } from './checkout/stripe-events.ts';
import type { PaymentRow, Payments } from './payments.ts';
import type { Secrets } from './secrets.ts';

type News = NonNullable<StripeEvent['news']>;

export interface WebhooksDeps {
  database: Database;
  payments: Payments;
  secrets: Secrets;
  now: () => number;
}

export type Webhooks = ReturnType<typeof createWebhooks>;

/** What providers tell by themselves: signed, heard once, in any order. */
export const createWebhooks = ({ database, payments, secrets, now }: WebhooksDeps) => {
  const read = async (projectNumber: number, text: string, signature: string | undefined) => {
    const keys = await secrets.keysOf(projectNumber);
    try {
      return readStripeEvent(text, signature, keys ? secrets.webhookSecretsOf(keys) : [], now());
    } catch (cause) {
      if (!(cause instanceof SignatureInvalid)) throw cause;
      throw new ApiError('invalid_signature', 'No webhook secret of the project signed this.', {
        cause,
      });
    }
  };

  /** A session of another payment is never taken for this one's. */
  const isAbout = (row: PaymentRow, { sessionId }: News) =>
    row.provider === 'stripe' &&
    (sessionId === null || row.session_id === null || row.session_id === sessionId);

  const findPayment = async (
    projectNumber: number,
    news: News,
  ): Promise<PaymentRow | undefined> => {
    for (const name of news.names) {
      const row = await payments.find(projectNumber, name);
      if (row && isAbout(row, news)) return row;
    }
    return undefined;
  };

  const isFirst = async (projectNumber: number, eventId: string): Promise<boolean> => {
    const heard = await database.query(
      `INSERT INTO heard_events (project_number, event_id, heard_at) VALUES ($1, $2, $3)
       ON CONFLICT DO NOTHING RETURNING 1`,
      [projectNumber, eventId, new Date(now())],
    );
    return heard.length > 0;
  };

  return {
    /** @param text the body as it came. @throws ApiError invalid_signature */
    async receive(projectNumber: number, text: string, signature: string | undefined) {
      const { id, news } = await read(projectNumber, text, signature);
      if (!news) return;
      await database.transaction(async () => {
        if (id !== undefined && !(await isFirst(projectNumber, id))) return;
        const row = await findPayment(projectNumber, news);
        if (row) await payments.advance(projectNumber, row.id, news);
      });
    },
  };
};
