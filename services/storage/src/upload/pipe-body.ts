import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { KIB } from '@backlot/contract';

export interface BodyEvents {
  /** The caller has gone before the end. */
  onGone(): void;
  /** Next to nothing came for so long. */
  onSilence(): void;
}

/** The least that has to come in the time that a caller may be silent: a byte now and then holds no place. */
const leastBytes = 16 * KIB;

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
  let came = 0;
  const onData = (chunk: Buffer) => {
    came += chunk.length;
    if (came < leastBytes) return;
    came = 0;
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
