import { ApiError } from '@backlot/contract';
import { OrderRefused, ProviderFailed } from './provider.ts';

/** What a caller is told of a provider's failure; anything else is passed on as it is. */
export const toApiError = (cause: unknown, hint?: string): unknown => {
  if (cause instanceof OrderRefused) {
    const message = `"${cause.field}": the payment provider does not take it.`;
    const why = 'A total may be too small or too large for its currency, an address unusual.';
    return new ApiError('invalid_body', message, { cause, hint: why });
  }
  if (!(cause instanceof ProviderFailed)) return cause;
  const details = { cause, ...(hint !== undefined && { hint }) };
  if (cause.reason === 'timeout')
    return new ApiError('timeout', 'The payment provider did not answer in time.', details);
  if (cause.reason === 'failed')
    return new ApiError('upstream_failed', 'The payment provider could not do this.', details);
  const message = 'The payment provider does not accept the keys of this project.';
  const remedy = 'Its owner has to set keys that may write Checkout Sessions and Refunds.';
  return new ApiError('upstream_failed', message, { cause, hint: remedy });
};
