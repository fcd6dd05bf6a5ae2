import { FairShareFull, outsideCalls, toRequester, WaitedTooLong } from '@backlot/fair-shares';
import type { Identity } from '@backlot/identity';
import { type PaymentRow, toProviderPayment } from '../payments/payment-row.ts';
import type { Payments } from '../payments/payments.ts';
import { type SettleInTurn, sweepRequester } from '../payments/settle-in-turn.ts';
import { ProviderFailed, SessionNotFound } from '../provider/provider.ts';
import type { ProviderAccounts } from './provider-accounts.ts';

/**
 * Calls of `verify` to providers at a time. An account at Stripe may read 25 times a second in test mode
 * and 100 times live, its checkouts included; an answer takes a quarter of a second.
 */
const places = 40;
const perOwner = 4;
/** A caller waits meanwhile: first for their turn, then for the provider. */
const timeoutMs = 5000;

export interface LookupsDeps {
  payments: Payments;
  accounts: ProviderAccounts;
  settleInTurn: SettleInTurn;
  log: { warn(fields: object, message: string): void };
}

type Requester = ReturnType<typeof toRequester>;

export type Lookups = ReturnType<typeof createLookups>;

/** Asks providers what became of open payments. */
export const createLookups = ({ payments, accounts, settleInTurn, log }: LookupsDeps) => {
  const shares = outsideCalls({ places, perOwner });
  /** By payment: parallel callers share one. */
  const underWay = new Map<string, Promise<void>>();

  const update = async (
    row: PaymentRow,
    {
      requester = sweepRequester(row),
      ...options
    }: { requester?: Requester; timeoutMs?: number } = {},
  ): Promise<void> => {
    const { project_number: projectNumber, session_id: sessionId } = row;
    if (sessionId === null) return;
    const account = await accounts.find(row);
    const state = await account?.retrieve(toProviderPayment(row, sessionId), options);
    if (!state || state.status === 'open') return;
    const { status, chargeId } = state;
    await settleInTurn.run(requester, () =>
      payments.advance(projectNumber, row.id, { status, chargeId }),
    );
  };

  const updateInTurn = async (identity: Identity, row: PaymentRow): Promise<void> => {
    try {
      const requester = toRequester(identity);
      const work = () => update(row, { requester, timeoutMs });
      await shares.run(requester, work, { maxWaitMs: timeoutMs });
    } catch (err) {
      const isExpected =
        err instanceof WaitedTooLong ||
        err instanceof FairShareFull ||
        err instanceof ProviderFailed ||
        err instanceof SessionNotFound;
      if (!isExpected) throw err;
      log.warn({ err, paymentId: row.id }, 'session look-up failed; answering the stored status');
    }
  };

  return {
    usage: shares.usage,

    /** @throws SessionNotFound, ProviderFailed */
    update,

    /** For a caller who waits. Where the provider fails, or too many ask, the payment stays as it is. */
    async tryUpdate(identity: Identity, row: PaymentRow): Promise<void> {
      const lookup =
        underWay.get(row.id) ?? updateInTurn(identity, row).finally(() => underWay.delete(row.id));
      underWay.set(row.id, lookup);
      await lookup;
    },
  };
};
