import type { IncomingMessage } from 'node:http';

/** The body has not come to its end in the time that a call has for it, or is longer than one may be. */
export class ReadingOver extends Error {
  override readonly name = 'ReadingOver';
}

/**
 * The chunks of a body until its end.
 * @param untilMs performance.now()
 * @throws ReadingOver; what the connection says where the caller has gone
 */
export async function* bodyChunks(
  req: IncomingMessage,
  { untilMs, maxBytes }: { untilMs: number; maxBytes: number },
): AsyncGenerator<Buffer> {
  const chunks = req.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]();
  let over = (_error: ReadingOver) => {};
  const timeIsOver = new Promise<never>((_resolve, reject) => {
    over = reject;
  });
  timeIsOver.catch(() => {});
  const timer = setTimeout(() => over(new ReadingOver()), untilMs - performance.now());
  let bytes = 0;
  try {
    for (;;) {
      const { value, done } = await Promise.race([chunks.next(), timeIsOver]);
      if (done) return;
      bytes += value.length;
      if (bytes > maxBytes) throw new ReadingOver();
      yield value as Buffer;
    }
  } finally {
    clearTimeout(timer);
    // What comes is then for who discards it. Not awaited: it waits for a chunk that is still to come.
    void chunks.return?.().catch(() => {});
  }
}
