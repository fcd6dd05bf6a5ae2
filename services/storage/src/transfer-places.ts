import { ApiError, KIB } from '@backlot/contract';
import type { Requester } from '@backlot/fair-shares';

/** A body that comes in or goes out. */
export interface ExpectedBody {
  /** False where the caller has done their part, or the store is what is slow. */
  awaitsCaller(): boolean;
  /** Ends the call: others wait for its place. */
  giveWay(): void;
}

/** Held while a body comes in or goes out. */
export interface TransferPlace {
  /** The caller has to send, or to take, from now on, until the function that it returns is called. */
  expect(body: ExpectedBody): () => void;
  /** So many bytes were sent, or taken. */
  moved(bytes: number): void;
}

/** Bounds the bodies that this process receives, or sends, at a time. */
export interface TransferPlaces {
  /**
   * A caller waits some seconds for a place. Meanwhile bodies give way that come too slowly.
   * @param signal aborted when the caller has gone: nobody waits for them
   * @throws ApiError overloaded, or the signal's reason
   */
  run<T>(
    requester: Requester,
    work: (place: TransferPlace) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>;
}

export interface TransferPlacesOptions {
  /** As a refusal calls them. */
  what: 'uploads' | 'downloads';
  places: number;
  /** How long a body may move less than `minBytesPerSecond` before it is slow. */
  patienceMs: number;
  /** How long a caller waits for a place. */
  maxWaitMs: number;
  /** Milliseconds, from any start. */
  now?: () => number;
  /** From 0 to below 1. */
  random?: () => number;
}

/** What a place is kept by while others wait. */
const minBytesPerSecond = 16 * KIB;
const checkMs = 250;
/** Bodies that are told to give way at a time. */
const maxReplaced = 64;

interface Holder {
  requester: Requester;
  body: ExpectedBody | undefined;
  /** Bytes have moved for the time until then, at the least rate. */
  coveredUntil: number;
  isGivingWay: boolean;
}

interface Waiter {
  requester: Requester;
  since: number;
  start(): void;
  refuse(): void;
}

/** Those who hold a place, or wait for one, counted by owner and by address. */
class Crowd<Member extends { requester: Requester }> {
  readonly members = new Set<Member>();
  readonly #counts = new Map<string, number>();

  add(member: Member): void {
    this.members.add(member);
    this.#count(member.requester, 1);
  }

  delete(member: Member): void {
    this.members.delete(member);
    this.#count(member.requester, -1);
  }

  ofOwner([owner]: Requester): number {
    return this.#counts.get(`owner ${owner}`) ?? 0;
  }

  ofAddress([, , address]: Requester): number {
    return this.#counts.get(`address ${address}`) ?? 0;
  }

  most(requester: Requester): number {
    return Math.max(this.ofOwner(requester), this.ofAddress(requester));
  }

  #count([owner, , address]: Requester, change: 1 | -1): void {
    for (const key of [`owner ${owner}`, `address ${address}`]) {
      const count = (this.#counts.get(key) ?? 0) + change;
      if (count > 0) this.#counts.set(key, count);
      else this.#counts.delete(key);
    }
  }
}

/**
 * Places are shared by how many somebody holds: an owner has a third at most, an address a sixth, and as
 * many wait. A place that becomes free goes to whoever holds fewest. A slow body gives way to a caller
 * whose owner and address hold fewer than its own, or to one who is at the bound that it counts for.
 */
export const createTransferPlaces = ({
  what,
  places,
  patienceMs,
  maxWaitMs,
  now = () => performance.now(),
  random = Math.random,
}: TransferPlacesOptions): TransferPlaces => {
  const maxOfOwner = Math.max(1, Math.floor(places / 3));
  const maxOfAddress = Math.max(1, Math.floor(places / 6));
  const holders = new Crowd<Holder>();
  const waiters = new Crowd<Waiter>();
  let timer: NodeJS.Timeout | undefined;

  const overloaded = () =>
    new ApiError('overloaded', `Too many ${what} at a time. Try again shortly.`, {
      retryAfterSeconds: 1 + Math.floor(random() * 4),
    });

  const fits = (requester: Requester) =>
    holders.members.size < places &&
    holders.ofOwner(requester) < maxOfOwner &&
    holders.ofAddress(requester) < maxOfAddress;

  const mayGiveWay = ({ body, coveredUntil, isGivingWay }: Holder) =>
    body?.awaitsCaller() && !isGivingWay && now() - coveredUntil >= patienceMs;

  /** Whether the end of this body would serve the one who waits, and justly. */
  const mayReplace = ({ requester }: Holder, waiter: Requester) => {
    if (holders.ofAddress(waiter) >= maxOfAddress) return requester[2] === waiter[2];
    if (holders.ofOwner(waiter) >= maxOfOwner) return requester[0] === waiter[0];
    return holders.most(requester) > holders.most(waiter);
  };

  /** Of the slow ones that may be replaced, the slowest of those who hold most. */
  const chooseToReplace = (slow: readonly Holder[], waiter: Requester): Holder | undefined => {
    let chosen: Holder | undefined;
    for (const holder of slow) {
      if (holder.isGivingWay || !mayReplace(holder, waiter)) continue;
      const ahead = chosen ? holders.most(holder.requester) - holders.most(chosen.requester) : 1;
      const isSlower = chosen && holder.coveredUntil < chosen.coveredUntil;
      if (ahead > 0 || (ahead === 0 && isSlower)) chosen = holder;
    }
    return chosen;
  };

  const next = (): Waiter | undefined => {
    let best: Waiter | undefined;
    for (const waiter of waiters.members) {
      if (!fits(waiter.requester)) continue;
      if (!best || holders.most(waiter.requester) < holders.most(best.requester)) best = waiter;
    }
    return best;
  };

  const fill = () => {
    for (let waiter = next(); waiter; waiter = next()) {
      waiters.delete(waiter);
      waiter.start();
    }
  };

  const check = () => {
    for (const waiter of waiters.members) {
      if (now() - waiter.since < maxWaitMs) break;
      waiters.delete(waiter);
      waiter.refuse();
    }
    const slow = [...holders.members].filter(mayGiveWay);
    let leaving = 0;
    for (const { isGivingWay } of holders.members) if (isGivingWay) leaving += 1;
    for (const { requester } of [...waiters.members].slice(leaving, leaving + maxReplaced)) {
      const holder = chooseToReplace(slow, requester);
      if (!holder) continue;
      holder.isGivingWay = true;
      holder.body?.giveWay();
    }
    if (waiters.members.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };

  /** The latest of the owner or address with most that wait, where the newcomer's have fewer. */
  const makeRoomToWait = (requester: Requester) => {
    if (waiters.ofOwner(requester) >= maxOfOwner || waiters.ofAddress(requester) >= maxOfAddress)
      return false;
    if (waiters.members.size < places) return true;
    let latest: Waiter | undefined;
    for (const waiter of waiters.members)
      if (!latest || waiters.most(waiter.requester) >= waiters.most(latest.requester))
        latest = waiter;
    if (!latest || waiters.most(latest.requester) <= waiters.most(requester) + 1) return false;
    waiters.delete(latest);
    latest.refuse();
    return true;
  };

  const hold = (requester: Requester) => {
    const holder: Holder = { requester, body: undefined, coveredUntil: now(), isGivingWay: false };
    holders.add(holder);
    return holder;
  };

  const enter = (requester: Requester, signal: AbortSignal | undefined) =>
    new Promise<Holder>((resolve, reject) => {
      signal?.throwIfAborted();
      if (fits(requester)) return resolve(hold(requester));
      if (!makeRoomToWait(requester)) return reject(overloaded());
      const leave = () => {
        waiters.delete(waiter);
        reject(signal?.reason);
      };
      const waiter: Waiter = {
        requester,
        since: now(),
        start() {
          signal?.removeEventListener('abort', leave);
          resolve(hold(requester));
        },
        refuse() {
          signal?.removeEventListener('abort', leave);
          reject(overloaded());
        },
      };
      waiters.add(waiter);
      signal?.addEventListener('abort', leave, { once: true });
      timer ??= setInterval(check, checkMs).unref();
      check();
    });

  const createPlace = (holder: Holder): TransferPlace => ({
    expect(body) {
      holder.body = body;
      holder.coveredUntil = now();
      return () => {
        holder.body = undefined;
      };
    },
    moved(bytes) {
      const from = Math.max(holder.coveredUntil, now() - patienceMs);
      holder.coveredUntil = Math.min(now(), from + (bytes / minBytesPerSecond) * 1000);
    },
  });

  return {
    async run(requester, work, signal) {
      const holder = await enter(requester, signal);
      try {
        return await work(createPlace(holder));
      } finally {
        holders.delete(holder);
        fill();
      }
    },
  };
};
