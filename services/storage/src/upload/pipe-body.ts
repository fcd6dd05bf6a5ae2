import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { KIB } from '@backlot/contract';

export interface BodyEvents {
  /** The connection closed before the end. */
  onGone(): void;
  /** Fewer than 16 KiB came in `idleMs`. */
  onSilence(): void;
}

/** A byte now and then does not keep an upload alive. */
const minBytes = 16 * KIB;

/** Pipes a body into a stream until the stream closes. */
export const pipeBody = (
  req: IncomingMessage,
  into: Transform,
  idleMs: number,
  { onGone, onSilence }: BodyEvents,
): void => {
  const onTime = () => {
    // Not the caller's silence: the store is slow.
    if (into.writableNeedDrain) timer.refresh();
    else onSilence();
  };
  const timer = setTimeout(onTime, idleMs).unref();
  let receivedBytes = 0;
  const onData = (chunk: Buffer) => {
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
    req.off('data', onData);
    req.unpipe(into);
  });
  req.pipe(into);
};
