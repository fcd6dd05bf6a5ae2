import { performance } from 'node:perf_hooks';
import type { DeliveryAttempt } from '@backlot/contract';
import { type CallOptions, NotFetched, postText } from '@backlot/outgoing';
import type { Sealer } from '@backlot/sealing';
import type { LeasedWebhook } from './claim.ts';
import type { DueDelivery } from './queue.ts';
import { signingHeaders } from './secrets.ts';

/** Of an answer, whose status alone counts. */
const maxAnswerBytes = 64 * 1024;

export interface SendDeps extends Pick<CallOptions, 'names' | 'allowsLoopback' | 'timeoutMs'> {
  sealer: Sealer;
  now: () => number;
}

const words: Readonly<Record<string, string>> = {
  ABORT_ERR: 'it did not answer in time',
  ECONNREFUSED: 'it refuses connections',
  ECONNRESET: 'the connection broke off',
  ENOTFOUND: 'its name is not known',
};

const describe = (error: unknown): string => {
  if (error instanceof NotFetched) return error.message;
  const { code = '' } = error as { code?: string };
  return words[code] ?? `the call failed${code === '' ? '' : ` (${code})`}`;
};

export type Send = ReturnType<typeof createSend>;

/** One try: what is signed now, sent to the address that its name has now. */
export const createSend = ({ sealer, now, ...network }: SendDeps) => {
  const options = { ...network, maxBytes: maxAnswerBytes };
  return async (
    webhook: LeasedWebhook,
    { id, body }: DueDelivery,
  ): Promise<DeliveryAttempt & { isDelivered: boolean }> => {
    const at = now();
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Backlot-Webhooks',
      'accept-encoding': 'identity',
      ...signingHeaders(sealer, webhook, { id, body, at }),
    };
    const begunAt = performance.now();
    const tried = (status: number | null, error: string | null) => ({
      at: new Date(at).toISOString(),
      status,
      ms: Math.round(performance.now() - begunAt),
      error,
      isDelivered: error === null,
    });
    try {
      const status = await postText(new URL(webhook.url), headers, body, options);
      const isTaken = status >= 200 && status < 300;
      return tried(status, isTaken ? null : `it answered ${status}`);
    } catch (error) {
      return tried(null, describe(error));
    }
  };
};
