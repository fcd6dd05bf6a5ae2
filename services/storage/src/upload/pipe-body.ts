import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';

export interface BodyEvents {
  /** The caller has gone before the end. */
  onGone(): void;
  /** Nothing came for so long. */
  onSilence(): void;
}

/** Pipes a body into a stream, until that one closes. */
export const pipeBody = (
  req: IncomingMessage,
  into: Transform,
  idleMs: number,
  { onGone, onSilence }: BodyEvents,
): void => {
  const watch = () => {
    // Where the store is the slow one, the caller is not to blame.
    if (into.writableNeedDrain) timer.refresh();
    else onSilence();
  };
  const timer = setTimeout(watch, idleMs);
  const onData = () => timer.refresh();
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
