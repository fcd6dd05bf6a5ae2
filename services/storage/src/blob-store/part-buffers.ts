/** Turns to fill a part: a fixed number of buffers, whoever needs one. */
export interface PartBuffers {
  /** Empty. Resolves when it is this one's turn; in order of asking. */
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

/** A caller who takes longer to fill a part makes room for those who wait. */
const turnMs = 5000;

interface Turn {
  memory: Buffer;
  since: number;
  /** Undefined once it is sealed. */
  giveWay: (() => void) | undefined;
}

/**
 * Parts of a multipart upload are megabytes each, and callers may be slow: a buffer each would be
 * without bound, one that a slow caller keeps would shut others out. So one that takes too long is put
 * aside, with the bytes that it has, and waits for another turn.
 */
export const createPartBuffers = (partBytes: number, count: number): PartBuffers => {
  const free: Buffer[] = [];
  let made = 0;
  const waiting: ((memory: Buffer) => void)[] = [];
  const turns = new Set<Turn>();

  const makeRoom = () => {
    if (waiting.length === 0) return;
    const late = Date.now() - turnMs;
    for (const turn of turns) if (turn.since <= late) turn.giveWay?.();
    setTimeout(makeRoom, turnMs / 5).unref();
  };
  const take = (): Promise<Buffer> => {
    const memory = free.pop();
    if (memory) return Promise.resolve(memory);
    if (made < count) {
      made++;
      return Promise.resolve(Buffer.allocUnsafeSlow(partBytes));
    }
    return new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) setTimeout(makeRoom, turnMs / 5).unref();
    });
  };
  const giveBack = (memory: Buffer) => {
    const next = waiting.shift();
    if (next) next(memory);
    else free.push(memory);
  };

  const acquire = async (): Promise<PartBuffer> => {
    let length = 0;
    let aside: Buffer | undefined;
    let turn: Turn | undefined;
    const end = () => {
      if (!turn) return;
      turns.delete(turn);
      giveBack(turn.memory);
      turn = undefined;
    };
    const giveWay = () => {
      aside = turn && Buffer.from(turn.memory.subarray(0, length));
      end();
    };
    const begin = async (): Promise<Turn> => {
      if (turn) return turn;
      turn = { memory: await take(), since: Date.now(), giveWay };
      turns.add(turn);
      aside?.copy(turn.memory);
      aside = undefined;
      return turn;
    };
    await begin();
    return {
      async fill(chunk) {
        const { memory } = await begin();
        const copied = chunk.copy(memory, length);
        length += copied;
        return copied;
      },
      isFull: () => length === partBytes,
      async seal() {
        const sealed = await begin();
        sealed.giveWay = undefined;
        return sealed.memory.subarray(0, length);
      },
      release: end,
    };
  };
  return { acquire };
};

/** Cuts a stream into parts; each is the receiver's to release. */
export async function* partsOf(source: AsyncIterable<Buffer>, next: () => Promise<PartBuffer>) {
  let part: PartBuffer | undefined;
  try {
    for await (const chunk of source) {
      for (let at = 0; at < chunk.length; ) {
        part ??= await next();
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
