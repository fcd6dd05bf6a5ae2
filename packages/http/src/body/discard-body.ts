import type { IncomingMessage } from 'node:http';
import { createPlaces } from './places.ts';

export interface DiscardBounds {
  /** As much is read of anybody's body; more takes a place, of which there are only so many. */
  freeBytes: number;
  places: number;
  placesPerAddress: number;
  /** For the whole body, and without a byte of it: nginx's lingering_time and lingering_timeout. */
  maxMs: number;
  idleMs: number;
  bytesPerSecond: number;
}

const MIB = 1024 * 1024;
const defaults: DiscardBounds = {
  freeBytes: 4 * MIB,
  places: 256,
  placesPerAddress: 8,
  maxMs: 30_000,
  idleMs: 5000,
  bytesPerSecond: 64 * MIB,
};

const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/**
 * Reads a refused body and throws it away; resolves when there is no more to read. A client that still
 * sends when its connection is closed gets a reset, and never the answer. Past the bounds it is cut.
 * @param address whose places count; of the connection unless told otherwise
 */
export type DiscardBody = (req: IncomingMessage, address?: string) => Promise<void>;

export const createDiscardBody = (changes: Partial<DiscardBounds> = {}): DiscardBody => {
  const bounds = { ...defaults, ...changes };
  const running = new WeakMap<IncomingMessage, Promise<void>>();
  const places = createPlaces({ total: bounds.places, perAddress: bounds.placesPerAddress });

  const discard = (req: IncomingMessage, address: string) =>
    new Promise<void>((resolve) => {
      const startedAt = performance.now();
      const { socket } = req;
      const cut = () => void socket.destroy();
      const deadline = setTimeout(cut, bounds.maxMs).unref();
      const idle = setTimeout(cut, bounds.idleMs).unref();
      let pause: NodeJS.Timeout | undefined;
      let size = 0;
      let hasPlace = false;
      req.on('data', (chunk: Buffer) => {
        size += chunk.length;
        idle.refresh();
        if (size <= bounds.freeBytes) return;
        hasPlace ||= places.take(address) === 'taken';
        if (!hasPlace) return cut();
        const dueMs = (size / bounds.bytesPerSecond) * 1000 - (performance.now() - startedAt);
        if (dueMs < 20) return;
        req.pause();
        pause = setTimeout(() => req.resume(), dueMs).unref();
      });
      const finish = () => {
        req.off('close', finish);
        socket.off('close', finish);
        for (const timer of [deadline, idle, pause]) clearTimeout(timer);
        if (hasPlace) places.leave(address);
        resolve();
      };
      req.once('close', finish);
      // A request that is answered before its end does not close with its connection.
      socket.once('close', finish);
      req.unpipe();
      req.resume();
    });

  return (req, address = req.socket.remoteAddress ?? '') => {
    if (!hasBody(req) || req.readableEnded || req.destroyed) return Promise.resolve();
    const known = running.get(req) ?? discard(req, address);
    running.set(req, known);
    return known;
  };
};

/** For all connections of this process. */
export const discardBody: DiscardBody = createDiscardBody();
