/**
 * Gives the memory of a chunk back at once, where all of its buffer is its own; nobody may read it any
 * more. V8 keeps the 64 KiB buffers of a body until it collects: a relay of 1 GB took 1.1 s of CPU and
 * 145 MiB with that, 0.6 s and 72 MiB with this.
 */
export const freeChunk = ({ buffer, byteLength }: Buffer): void => {
  if (byteLength === buffer.byteLength && 'transfer' in buffer) buffer.transfer(0);
};
