import { setTimeout as pause } from 'node:timers/promises';
import { type Requester, ShareQueue, type ShareUsage, type Taken } from './share-queue.ts';

/** Those of the presets; beside them only tests choose among these. */
export interface FairSharesOptions {
  /** Pieces of work that run at once. */
  slots: number;
  /** Default a third of the slots, and at least one. All of them where every piece is short. */
  maxRunningPerOwner?: number;
  /** Default as many as its owner may have. */
  maxRunningPerProject?: number;
  /** From one address of a project. Default as many as the owner may have. */
  maxRunningPerRequester?: number;
  /** From one address, whoever's projects it calls: accounts are free. Default no bound besides the owners'. */
  maxRunningPerAddress?: number;
  /** Slots besides those that only quick work may take, shared likewise. Default 0: it runs among the rest. */
  quickSlots?: number;
  /** Default 20. */
  maxWaitingPerRequester?: number;
  /** Past it the latest of whichever of the project's addresses has most gives way. Default no bound. */
  maxWaitingPerProject?: number;
  /** In each lane. Past it the latest of whoever has most waiting gives way. Default 500. */
  maxWaiting?: number;
  /** How long work that can pause runs at a stretch. Default 50. */
  sliceMs?: number;
  /**
   * How long a slot of the slow lane stays empty after each piece of work, in units of what that took, while
   * two or more wait; 100 ms at most, because what takes longer has mostly waited itself. Default 0. With 1
   * the lane keeps half of its slots' cores busy at most, in turn with everybody else's short calls.
   */
  restRatio?: number;
  /**
   * Slots of work that has taken more than 100 ms are lent to others, so many at once: it mostly waits, for
   * a lock for example. It goes on, and counts among its owner's. Default 0.
   */
  maxLent?: number;
  /** Waits for milliseconds. */
  sleep?: (ms: number) => Promise<void>;
  /** Milliseconds that only go forward. */
  now?: () => number;
  /** From 0 to below 1. */
  random?: () => number;
}

/** Too many wait already; an API answers it as 503 `overloaded`. */
export class FairShareFull extends Error {
  override readonly name = 'FairShareFull';
  /** Differs by chance, so that those who are refused together don't come back together. */
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super('Too many wait for a slot.');
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** No slot was free within `maxWaitMs`. */
export class WaitedTooLong extends Error {
  override readonly name = 'WaitedTooLong';

  constructor() {
    super('No slot was free in time.');
  }
}

export interface Caller {
  /** Aborted when the caller has gone: work that waits is dropped. Asked for where it waits, and not before. */
  readonly signal?: AbortSignal | undefined;
  /** How long it waits for a slot. Default no bound. */
  readonly maxWaitMs?: number | undefined;
}

export interface LaneUsage {
  slots: number;
  running: number;
  waiting: number;
  /** Refused since the start. */
  refused: number;
  /** What all work has cost since the start. */
  costMs: number;
  /** Those with work at the moment, the most expensive first. */
  owners: ShareUsage[];
}

/** What takes longer has mostly waited, and kept no core busy. */
const maxWorkMs = 100;

interface Job {
  start(slot: Slot): void;
  refuse(): void;
}

export interface Slot {
  taken: Taken<Job>;
  startedAt: number;
  state: 'held' | 'lent' | 'left';
}

/** Slots, and those who wait for them. */
export class Lane {
  readonly #queue: ShareQueue<Job>;
  readonly #slots: number;
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #restRatio: number;
  readonly #maxLent: number;
  readonly #sleep: (ms: number) => Promise<void>;
  #resting = 0;
  #lent = 0;
  #refused = 0;
  #costMs = 0;

  constructor(slots: number, options: FairSharesOptions) {
    this.#slots = slots;
    this.#now = options.now ?? (() => performance.now());
    this.#random = options.random ?? Math.random;
    this.#restRatio = options.restRatio ?? 0;
    this.#maxLent = options.maxLent ?? 0;
    this.#sleep = options.sleep ?? ((ms) => pause(ms));
    const maxRunningPerOwner = options.maxRunningPerOwner ?? Math.max(1, Math.floor(slots / 3));
    this.#queue = new ShareQueue({
      maxRunningPerOwner,
      maxRunningPerProject: options.maxRunningPerProject ?? maxRunningPerOwner,
      maxRunningPerRequester: options.maxRunningPerRequester ?? maxRunningPerOwner,
      maxRunningPerAddress: options.maxRunningPerAddress ?? Number.POSITIVE_INFINITY,
      maxWaitingPerRequester: options.maxWaitingPerRequester ?? 20,
      maxWaitingPerProject: options.maxWaitingPerProject ?? Number.POSITIVE_INFINITY,
      maxWaiting: options.maxWaiting ?? 500,
      expectedMs: options.sliceMs ?? 50,
      now: this.#now,
    });
  }

  /** Resolves once a slot is free. @param continues work that was let in before is not refused again */
  enter(requester: Requester, caller: Caller, continues = false): Promise<Slot> {
    const crowded = continues ? undefined : this.#queue.makeRoom(requester);
    if (crowded === 'full') throw this.#full();
    crowded?.refuse();
    return new Promise((resolve, reject) => {
      let waits = true;
      let signal: AbortSignal | undefined;
      let timer: NodeJS.Timeout | undefined;
      const end = () => {
        waits = false;
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      };
      const job: Job = {
        start: (slot) => {
          end();
          resolve(slot);
        },
        refuse: () => {
          end();
          reject(this.#full());
        },
      };
      const share = this.#queue.push(requester, job, continues);
      const drop = (reason: unknown) => {
        end();
        this.#queue.remove(share, job);
        reject(reason);
      };
      const abort = () => drop(signal?.reason);
      this.#fill();
      if (!waits) return;
      signal = caller.signal;
      if (signal?.aborted) return abort();
      signal?.addEventListener('abort', abort, { once: true });
      if (caller.maxWaitMs !== undefined)
        timer = setTimeout(() => drop(new WaitedTooLong()), caller.maxWaitMs).unref();
    });
  }

  checkRoom(requester: Requester): void {
    if (!this.#queue.hasRoom(requester)) throw this.#full();
  }

  leave(slot: Slot): void {
    const tookMs = this.#now() - slot.startedAt;
    const isLent = slot.state === 'lent';
    const costMs = isLent ? maxWorkMs : tookMs;
    slot.state = 'left';
    this.#costMs += costMs;
    this.#queue.finish(slot.taken, costMs);
    if (isLent) this.#lent -= 1;
    else if (this.#restRatio > 0 && this.#queue.waiting > 1) {
      void this.#rest(Math.min(costMs * this.#restRatio, maxWorkMs));
    }
    this.#fill();
  }

  usage(): LaneUsage {
    const { running, waiting } = this.#queue;
    const owners = this.#queue.usage();
    return {
      slots: this.#slots,
      running,
      waiting,
      owners,
      refused: this.#refused,
      costMs: this.#costMs,
    };
  }

  async #rest(ms: number): Promise<void> {
    this.#resting += 1;
    await this.#sleep(ms);
    this.#resting -= 1;
    this.#fill();
  }

  async #lendLater(slot: Slot): Promise<void> {
    await this.#sleep(maxWorkMs);
    if (slot.state !== 'held' || this.#lent >= this.#maxLent) return;
    slot.state = 'lent';
    this.#lent += 1;
    this.#fill();
  }

  #fill(): void {
    while (this.#queue.running - this.#lent + this.#resting < this.#slots) {
      const taken = this.#queue.take();
      if (!taken) return;
      const slot: Slot = { taken, startedAt: this.#now(), state: 'held' };
      taken.item.start(slot);
      if (this.#maxLent > 0) void this.#lendLater(slot);
    }
  }

  #full(): FairShareFull {
    this.#refused += 1;
    return new FairShareFull(1 + Math.floor(this.#random() * 4));
  }
}
