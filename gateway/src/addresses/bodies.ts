import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError } from '@backlot/contract';
import { createPlaces, isBodyHere } from '@backlot/http';
import { type AddressBounds, addressesInAllOfBytes, requirePlaces } from './address-bounds.ts';
import { type PaceBounds, watchPace } from './body-pace.ts';
import type { CountRefusal } from './refusals.ts';

export interface ExpectedBody {
  address: string;
  /** Counted where the body does not say its length. */
  limitBytes: number;
  /** When the call came (performance.now()). */
  startedAt: number;
  /** It comes too slowly and the call has no answer yet: its failure, after which the connection is closed. */
  onSlow(error: ApiError): void;
}

export interface HeldBody {
  /** It is complete, and has so many bytes. */
  shrink(sizeBytes: number): void;
}

/**
 * Bodies on their way and in work: how slow each may be, and how many bytes an address and all may have of
 * them until their calls are answered.
 */
export interface Bodies {
  /** Of a call that has a body. @throws ApiError rate_limited, overloaded */
  expect(req: IncomingMessage, res: ServerResponse, body: ExpectedBody): HeldBody;
}

const requestTimeout = () =>
  new ApiError('request_timeout', 'The body did not arrive in time.', { retryAfterSeconds: 1 });

export const createBodies = (
  { bodyBytes }: AddressBounds,
  pace: PaceBounds,
  countRefusal: CountRefusal,
): Bodies => {
  const total = bodyBytes * addressesInAllOfBytes;
  const places = createPlaces({ total, perAddress: bodyBytes });
  return {
    expect(req, res, { address, limitBytes, startedAt, onSlow }) {
      const isWhole = isPlain(req);
      const saidBytes = isWhole ? Number(req.headers['content-length'] ?? limitBytes) : limitBytes;
      let bytes = Math.min(limitBytes, saidBytes);
      requirePlaces(places.take(address, bytes), 'body-bytes', countRefusal);
      const shrink = (sizeBytes: number) => {
        if (sizeBytes < bytes) places.leave(address, bytes - sizeBytes);
        bytes = Math.min(bytes, sizeBytes);
      };
      res.once('close', () => shrink(0));
      // Else it can't be slow.
      if (!isBodyHere(req))
        watchPace(req, startedAt, pace, () => {
          countRefusal('pace');
          if (res.writableEnded) req.socket.destroy();
          else onSlow(requestTimeout());
        });
      return { shrink: isWhole ? shrink : () => {} };
    },
  };
};

/** What is compressed is left to its service, and may become as large there as its route allows. */
export const isPlain = ({ headers }: IncomingMessage): boolean =>
  ['', 'identity'].includes((headers['content-encoding'] ?? '').toLowerCase());

/** Says that it has a body that is not here yet, or not all that becomes of it. */
export const isComing = (req: IncomingMessage): boolean =>
  !(req.complete && isPlain(req)) &&
  (req.headers['transfer-encoding'] !== undefined ||
    Number(req.headers['content-length'] ?? 0) > 0);
