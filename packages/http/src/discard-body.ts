import type { IncomingMessage } from 'node:http';

/** How much of a refused body is read, so that the caller gets to see the answer. */
const discardBytes = 4 * 1024 * 1024;
const discardMs = 10_000;

const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/**
 * A body that nobody wants is read and thrown away up to a bound of bytes and time; past it the
 * connection is cut.
 */
export const discardBody = (req: IncomingMessage): void => {
  if (!hasBody(req) || req.readableEnded || req.destroyed) return;
  let left = discardBytes;
  const cut = () => req.socket.destroy();
  const timer = setTimeout(cut, discardMs).unref();
  req.once('close', () => clearTimeout(timer));
  req.unpipe();
  req.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) cut();
  });
  req.resume();
};
