import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { KIB } from '@backlot/contract';
import type { TransferPlace } from '../transfer-places.ts';

export interface BodyOptions {
  /** How long the caller may be silent. */
  idleMs: number;
  /** What the body is received on. */
  place: TransferPlace;
}

export interface BodyEvents {
  /** The connection closed before the end. */
  onGone(): void;
  /** Fewer than 16 KiB came in `idleMs`. */
  onSilence(): void;
  /** The bytes come too slowly for a place that others wait for. */
  onGiveWay(): void;
}

/** A byte now and then does not keep an upload alive. */
const minBytes = 16 * KIB;

/** Pipes a body into a stream until the stream closes. */
export const pipeBody = (
  req: IncomingMessage,
  into: Transform,
  { idleMs, place }: BodyOptions,
  { onGone, onSilence, onGiveWay }: BodyEvents,
): void => {
  const onTime = () => {
    // Not the caller's silence: the store is slow.
    if (into.writableNeedDrain) timer.refresh();
    else onSilence();
  };
  const timer = setTimeout(onTime, idleMs).unref();
  let receivedBytes = 0;
  const endExpecting = place.expect({
    awaitsCaller: () => !req.complete && !into.writableNeedDrain,
    giveWay: onGiveWay,
  });
  const onData = (chunk: Buffer) => {
    place.moved(chunk.length);
    receivedBytes += chunk.length;
    if (receivedBytes < minBytes) return;
    receivedBytes = 0;
    timer.refresh();
  };
  req.on('data', onData);
  req.once('close', () => req.complete || onGone());
  if (req.destroyed) onGone();
  into.once('close', () => {
    clearTimeout(timer);
    endExpecting();
    req.off('data', onData);
    req.unpipe(into);
  });
  req.pipe(into);
};
