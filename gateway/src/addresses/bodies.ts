import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError } from '@backlot/contract';
import { createPlaces } from '@backlot/http';
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
  /** Nothing here holds it any longer; the end of the call does the same. */
  release(): void;
}

/** Bodies on their way: how slow each may be, and how many bytes an address and all may have of them. */
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
      let bytes = Math.min(limitBytes, Number(req.headers['content-length'] ?? limitBytes));
      requirePlaces(places.take(address, bytes), 'body-bytes', countRefusal);
      const shrink = (sizeBytes: number) => {
        if (sizeBytes < bytes) places.leave(address, bytes - sizeBytes);
        bytes = Math.min(bytes, sizeBytes);
      };
      const release = () => shrink(0);
      res.once('close', release);
      watchPace(req, startedAt, pace, () => {
        countRefusal('pace');
        if (res.writableEnded) req.socket.destroy();
        else onSlow(requestTimeout());
      });
      return { shrink, release };
    },
  };
};

/** Says that it has a body that is not here yet. */
export const isComing = (req: IncomingMessage): boolean =>
  !req.complete &&
  (req.headers['transfer-encoding'] !== undefined ||
    Number(req.headers['content-length'] ?? 0) > 0);
