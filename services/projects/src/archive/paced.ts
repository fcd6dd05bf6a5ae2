import type { IncomingMessage } from 'node:http';
import { ApiError, KIB } from '@backlot/contract';

/** Who sends holds a place: so many bytes in so much time of waiting for them. */
const windowMs = 60_000;
const minBytes = 512 * KIB;

const tooSlow = () =>
  new ApiError('request_timeout', 'The archive came too slowly. No project was made.', {
    hint: `Send at least ${minBytes / KIB} KiB a minute.`,
  });

/**
 * The body as it comes; what the platform itself takes does not count.
 * @throws ApiError request_timeout; Error where the caller has gone
 */
export async function* paced(req: IncomingMessage): AsyncGenerator<Buffer> {
  const body: AsyncIterator<Buffer> = req.iterator({ destroyOnReturn: false });
  let waitedMs = 0;
  let receivedBytes = 0;
  try {
    for (;;) {
      const since = performance.now();
      const late = Promise.withResolvers<never>();
      const timer = setTimeout(() => late.reject(tooSlow()), windowMs - waitedMs);
      const next = Promise.race([body.next(), late.promise]);
      const { done, value } = await next.finally(() => clearTimeout(timer));
      if (done) return;
      waitedMs += performance.now() - since;
      yield value;
      receivedBytes += value.length;
      if (receivedBytes >= minBytes) [waitedMs, receivedBytes] = [0, 0];
    }
  } finally {
    // What comes is then for who discards it. Not awaited: it waits for a chunk that is still to come.
    void body.return?.().catch(() => {});
  }
}
