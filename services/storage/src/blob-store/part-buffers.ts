/** A fixed number of buffers in which parts are collected, given out in the order of the requests. */
export interface PartBuffers {
  /** Resolves with an empty one as soon as there is memory for it. */
  acquire(): Promise<PartBuffer>;
}

export interface PartBuffer {
  /** Answers how much of the chunk fitted. */
  fill(chunk: Buffer): Promise<number>;
  isFull(): boolean;
  /** What it holds; from here on it stays in memory until it is released. */
  seal(): Promise<Buffer>;
  release(): void;
}

/** A caller who takes longer to fill a part loses its memory to those who wait. */
const maxHoldMs = 5000;
const checkMs = maxHoldMs / 5;

interface Holder {
  memory: Buffer;
  since: number;
  /** Undefined once the part is sealed. */
  evict: (() => void) | undefined;
}

/**
 * Parts of a multipart upload are megabytes each, and callers may be slow: a buffer for each of them
 * would be without bound, and one that a slow caller keeps would shut others out. So the bytes of one
 * that takes too long are copied out of the buffer, and back into another one when there is one.
 */
export const createPartBuffers = (partBytes: number, count: number): PartBuffers => {
  const free: Buffer[] = [];
  let allocated = 0;
  const waiting: ((memory: Buffer) => void)[] = [];
  const holders = new Set<Holder>();

  const evictSlowHolders = () => {
    if (waiting.length === 0) return;
    const latest = Date.now() - maxHoldMs;
    for (const holder of holders) if (holder.since <= latest) holder.evict?.();
    setTimeout(evictSlowHolders, checkMs).unref();
  };
  const takeMemory = (): Promise<Buffer> => {
    const memory = free.pop();
    if (memory) return Promise.resolve(memory);
    if (allocated < count) {
      allocated++;
      return Promise.resolve(Buffer.allocUnsafeSlow(partBytes));
    }
    return new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) setTimeout(evictSlowHolders, checkMs).unref();
    });
  };
  const returnMemory = (memory: Buffer) => {
    const next = waiting.shift();
    if (next) next(memory);
    else free.push(memory);
  };

  const acquire = async (): Promise<PartBuffer> => {
    let length = 0;
    let evicted: Buffer | undefined;
    let holder: Holder | undefined;
    const release = () => {
      if (!holder) return;
      holders.delete(holder);
      returnMemory(holder.memory);
      holder = undefined;
    };
    const evict = () => {
      evicted = holder && Buffer.from(holder.memory.subarray(0, length));
      release();
    };
    const hold = async (): Promise<Holder> => {
      if (holder) return holder;
      holder = { memory: await takeMemory(), since: Date.now(), evict };
      holders.add(holder);
      evicted?.copy(holder.memory);
      evicted = undefined;
      return holder;
    };
    await hold();
    return {
      async fill(chunk) {
        const { memory } = await hold();
        const copied = chunk.copy(memory, length);
        length += copied;
        return copied;
      },
      isFull: () => length === partBytes,
      async seal() {
        const sealed = await hold();
        sealed.evict = undefined;
        return sealed.memory.subarray(0, length);
      },
      release,
    };
  };
  return { acquire };
};

/** Cuts a stream into parts; each is the receiver's to release. */
export async function* splitIntoParts(
  source: AsyncIterable<Buffer>,
  acquire: () => Promise<PartBuffer>,
) {
  let part: PartBuffer | undefined;
  try {
    for await (const chunk of source) {
      for (let at = 0; at < chunk.length; ) {
        part ??= await acquire();
        at += await part.fill(chunk.subarray(at));
        if (!part.isFull()) continue;
        const full = part;
        part = undefined;
        yield full;
      }
    }
    if (!part) return;
    const last = part;
    part = undefined;
    yield last;
  } finally {
    part?.release();
  }
}
