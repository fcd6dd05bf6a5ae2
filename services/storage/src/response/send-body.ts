import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { freeWhenSent } from '@backlot/http';
import type { TransferPlace } from '../transfer-places.ts';

interface Head {
  status: number;
  headers: OutgoingHttpHeaders;
}

/** Sends a body at the caller's pace, on a place that a slow caller loses to others. */
export const sendBody = async (
  res: ServerResponse,
  place: TransferPlace,
  { status, headers }: Head,
  openBody: () => Promise<Readable>,
): Promise<void> => {
  if (res.destroyed) return;
  const body = await openBody();
  // The caller has gone: a pipeline would throw and leave the stream open.
  if (res.destroyed) {
    body.destroy();
    return;
  }
  res.writeHead(status, headers);
  freeWhenSent(res);
  const endExpecting = place.expect({
    awaitsCaller: () => res.writableNeedDrain || res.writableEnded,
    giveWay: () => res.destroy(),
  });
  // A chunk comes once the caller has taken those before.
  body.on('data', ({ length }: Buffer) => place.moved(length));
  try {
    await pipeline(body, res);
  } catch (error) {
    // The caller has gone.
    const { code } = Object(error) as { code?: unknown };
    if (code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  } finally {
    endExpecting();
  }
};
