import type { Identity } from '@backlot/identity';
import type { PaymentRow } from './payment-row.ts';

/**
 * Whether the caller is the payer of a payment, or runs the project. Where a user opened it, that user is; else whoever
 * holds the session's id, which no record shows. The payment's own id is no secret any more once a record holds it.
 * @param reference what the caller names it by
 */
export const maySeePayment = (
  { caller, userId }: Identity,
  row: PaymentRow,
  reference: string,
): boolean => {
  if (caller !== 'anonymous' && caller !== 'user') return true;
  if (row.user_id !== null) return caller === 'user' && userId === row.user_id;
  const isInRecord = row.on_paid !== null && row.record_outcome !== null;
  return row.holder_sees && (reference === row.session_id || !isInRecord);
};
