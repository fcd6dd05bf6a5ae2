import type { IncomingMessage } from 'node:http';

export interface PaceBounds {
  /** So much of a body, or all of it, has to come within the first time. */
  firstBytes: number;
  firstMs: number;
  /** What comes afterwards, over any window. */
  bytesPerSecond: number;
  windowMs: number;
}

export const usualPace: PaceBounds = {
  firstBytes: 64 * 1024,
  firstMs: 15_000,
  bytesPerSecond: 16 * 1024,
  windowMs: 10_000,
};

/** Looks in a window and in the first time. */
const looks = 10;

/** The service has not taken what is here: it is the slow one, not the caller. */
const waitsForReader = (req: IncomingMessage) => req.readableLength >= req.readableHighWaterMark;

/**
 * Calls `onSlow` once where the body of a call comes slower than it must, until it is complete.
 * @param startedAt when the call came (performance.now())
 */
export const watchPace = (
  req: IncomingMessage,
  startedAt: number,
  bounds: PaceBounds,
  onSlow: () => void,
): void => {
  const { socket } = req;
  const bytesAtStart = socket.bytesRead;
  let bytesSeen = bytesAtStart;
  let seenAt = performance.now();
  /** How long nothing may come from here on: time that bytes have bought, a window's at most. */
  let aheadMs = bounds.windowMs;

  const isSlow = (): boolean => {
    const now = performance.now();
    const elapsedMs = now - seenAt;
    const bytes = socket.bytesRead - bytesSeen;
    seenAt = now;
    bytesSeen += bytes;
    if (waitsForReader(req)) return false;
    if (bytesSeen - bytesAtStart < bounds.firstBytes) return now - startedAt >= bounds.firstMs;
    const boughtMs = (bytes / bounds.bytesPerSecond) * 1000;
    aheadMs = Math.min(bounds.windowMs, aheadMs - elapsedMs + boughtMs);
    return aheadMs <= 0;
  };
  const look = () => {
    if (req.complete || socket.destroyed) return;
    if (isSlow()) onSlow();
    else timer = setTimeout(look, everyMs).unref();
  };
  const everyMs = Math.min(bounds.firstMs, bounds.windowMs) / looks;
  let timer = setTimeout(look, everyMs).unref();
  const stop = () => clearTimeout(timer);
  req.once('end', stop);
  req.once('close', stop);
};
