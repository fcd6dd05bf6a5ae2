import type { OutgoingMessage } from 'node:http';

/**
 * Gives the memory of a chunk back at once, where all of its buffer is its own; nobody may read it any
 * more. V8 would keep the 64 KiB buffers of a body until it collects. An empty one may be of a buffer that is used again.
 */
export const freeChunk = ({ buffer, byteLength }: Buffer): void => {
  const isAll = byteLength > 0 && byteLength === buffer.byteLength;
  if (isAll && 'transfer' in buffer) buffer.transfer(0);
};

/** Each chunk that is written from here on is freed as soon as the socket has taken it. */
export const freeWhenSent = (message: OutgoingMessage): void => {
  const write = message.write.bind(message);
  message.write = (chunk: Buffer) => write(chunk, (error) => error ?? freeChunk(chunk));
};

/**
 * For a body whose chunks are parts of the buffers that a socket read, in order: a buffer is freed once all chunks
 * in it are sent and one of another buffer has come. Chunked answers go this way, since each of a socket's buffers
 * holds lengths between the chunks.
 * @returns called with each chunk as it comes; what that returns is called once the chunk is sent
 */
export const createBufferRelease = (): ((chunk: Buffer) => () => void) => {
  let current = {
    buffer: new ArrayBuffer() as ArrayBufferLike,
    largest: 0,
    unsent: 0,
    isOver: false,
  };
  const freeIfDone = ({ buffer, largest, unsent, isOver }: typeof current) => {
    // Node cuts what is smaller from a buffer that others share.
    const isOwn = largest >= Buffer.poolSize / 2;
    if (isOver && unsent === 0 && isOwn && 'transfer' in buffer) buffer.transfer(0);
  };
  return ({ buffer, byteLength }) => {
    if (buffer !== current.buffer) {
      current.isOver = true;
      freeIfDone(current);
      current = { buffer, largest: 0, unsent: 0, isOver: false };
    }
    const holder = current;
    holder.largest = Math.max(holder.largest, byteLength);
    holder.unsent += 1;
    return () => {
      holder.unsent -= 1;
      freeIfDone(holder);
    };
  };
};
