import { type Caller, type FairSharesOptions, Lane, type LaneUsage, type Slot } from './lane.ts';
import type { Requester } from './share-queue.ts';

/**
 * To be awaited between two parts of long work: once the slice is used up it gives the slot back and
 * waits for another, in the slow lane. Nothing else may be under way meanwhile.
 * @throws FairShareFull, WaitedTooLong, or the signal's reason where the caller has gone
 */
export type YieldSlot = () => Promise<void>;

export interface RunOptions extends Caller {
  /** Expected to take a few milliseconds. */
  isQuick?: boolean | undefined;
}

export interface TakeOptions extends Caller {
  /** It goes on with what was let in before: it may wait, and is not refused again. */
  continues?: boolean;
}

export interface FairShares {
  /** @throws FairShareFull, WaitedTooLong, or the signal's reason; what `work` throws passes through */
  run<T>(
    requester: Requester,
    work: (yieldSlot: YieldSlot) => Promise<T>,
    options?: RunOptions,
  ): Promise<T>;
  /**
   * A slot for something that is held, such as memory, until the returned function is called.
   * @throws FairShareFull, WaitedTooLong, or the signal's reason
   */
  take(requester: Requester, options?: TakeOptions): Promise<() => void>;
  /** Before anything else is done for a call: @throws FairShareFull where one more would be refused at once */
  checkRoom(requester: Requester): void;
  usage(): { quick: LaneUsage; slow: LaneUsage };
}

/** The parts of an identity that make a requester. */
interface RequesterParts {
  project: { id: string; ownerId: string | null };
  ip: string;
}

/** A project without an owner is an owner of its own. */
export const toRequester = ({ project, ip }: RequesterParts): Requester => [
  project.ownerId ?? `project ${project.id}`,
  project.id,
  ip,
];

export const createFairShares = (options: FairSharesOptions): FairShares => {
  const { quickSlots = 0, sliceMs = 50, now = () => performance.now() } = options;
  const slow = new Lane(options.slots, options);
  const quick = new Lane(quickSlots, { ...options, restRatio: 0 });
  return {
    async run(requester, work, caller = {}) {
      let lane = caller.isQuick && quickSlots > 0 ? quick : slow;
      let slot: Slot | undefined = await lane.enter(requester, caller);
      const leave = () => {
        if (slot) lane.leave(slot);
        slot = undefined;
      };
      const yieldSlot = async () => {
        caller.signal?.throwIfAborted();
        if (slot && now() - slot.startedAt < sliceMs) return;
        // It waits before it leaves: so its share is never without work, and what that has cost stays known.
        const next = slow.enter(requester, caller, true);
        leave();
        lane = slow;
        slot = await next;
      };
      try {
        return await work(yieldSlot);
      } finally {
        leave();
      }
    },
    async take(requester, caller = {}) {
      let slot: Slot | undefined = await slow.enter(requester, caller, caller.continues);
      return () => {
        if (slot) slow.leave(slot);
        slot = undefined;
      };
    },
    checkRoom: (requester) => slow.checkRoom(requester),
    usage: () => ({ quick: quick.usage(), slow: slow.usage() }),
  };
};
