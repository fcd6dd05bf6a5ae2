/**
 * Shares a number of slots (connections, CPU jobs) fairly by what work has really cost: between owners,
 * below an owner between projects, below a project between addresses; who had little goes first, as an owner
 * and as an address. Knows no service and no request; the state is one process's own. A caller names who wants the slot and hands over the work:
 *
 *     const scans = cpuWork({ places: 6 });
 *     await scans.run(toRequester(identity), () => database.query(…), { signal });
 *
 * There are four kinds: `cpuWork`, `connections`, `heldMemory` and `outsideCalls`. Where too many wait it throws
 * FairShareFull, which an API answers as 503 `overloaded`.
 */
export {
  type FairShares,
  type RunOptions,
  type TakeOptions,
  toRequester,
  type YieldSlot,
} from './fair-shares.ts';
export { FairShareFull, type LaneUsage, WaitedTooLong } from './lane.ts';
export * from './low-priority.ts';
export * from './presets.ts';
export type { Requester, ShareUsage } from './share-queue.ts';
