import { availableParallelism } from 'node:os';
import { createFairShares, type FairShares } from './fair-shares.ts';

/**
 * As many pieces of work that each keep a core busy may run at once, unless a setting says otherwise; the rest is for
 * everybody else's short calls (docs/decisions/0017).
 */
export const halfOfCores = Math.max(1, Math.floor(availableParallelism() / 2));

const part = (whole: number, parts: number) => Math.max(1, Math.floor(whole / parts));

interface CpuWork {
  places: number;
  /** Besides those, for what takes a few milliseconds. */
  quickPlaces?: number;
  /**
   * How long a place stays empty after each piece of work, in units of what that took, while two or more wait; 100 ms
   * at most. With 1 half of the places' cores are busy at most, in turn with everybody else's short calls.
   */
  restRatio?: number;
  /** Places of work that has taken more than 100 ms are lent to others, so many at once: it mostly waits. */
  maxLent?: number;
  maxWaiting?: number;
  /** From one address, whoever's projects it calls, where a piece may take seconds: accounts are free. */
  perAddress?: number;
  /** Every piece is: an owner may have all places, and a project or an address half of those that wait. */
  isShort?: boolean;
  /** How long work that can pause runs at a stretch; for tests. */
  sliceMs?: number;
}

/** Work that keeps a core busy. An owner has a third of the places, an address a fifth of those that wait. */
export const cpuWork = ({
  places,
  quickPlaces = 0,
  maxWaiting = 500,
  isShort = false,
  perAddress,
  ...rest
}: CpuWork): FairShares => {
  const half = Math.ceil(maxWaiting / 2);
  return createFairShares({
    ...rest,
    slots: places,
    quickSlots: quickPlaces,
    ...(perAddress !== undefined && { maxRunningPerAddress: perAddress }),
    maxWaiting,
    maxWaitingPerRequester: isShort ? half : part(maxWaiting, 5),
    ...(isShort && { maxRunningPerOwner: places, maxWaitingPerProject: half }),
  });
};

/**
 * For work on large bodies, on the thread that all calls share (docs/decisions/0033).
 * @param maxLent as `cpuWork` has it
 */
export const largeBodyWork = (maxLent = 0): FairShares =>
  cpuWork({ places: halfOfCores, restRatio: 2, maxLent, maxWaiting: 320 });

interface Connections {
  places: number;
  /** Default a third of the places. */
  perOwner?: number;
  /** Default as many as its owner may have. */
  perProject?: number;
  maxWaiting?: number;
}

/** Short work in PostgreSQL: many may wait, of an address a quarter of them. */
export const connections = ({
  places,
  perOwner = part(places, 3),
  perProject = perOwner,
  maxWaiting = 4000,
}: Connections): FairShares =>
  createFairShares({
    slots: places,
    maxRunningPerOwner: perOwner,
    maxRunningPerProject: perProject,
    maxWaitingPerRequester: part(maxWaiting, 4),
    maxWaiting,
  });

/**
 * What stays in memory until its caller has taken it, or others have answered. An owner has a third of the places, a
 * project a quarter, an address a sixth and of one project a twelfth; who waits holds something too.
 */
export const heldMemory = ({
  places,
  maxWaiting = 64,
}: {
  places: number;
  maxWaiting?: number;
}): FairShares =>
  createFairShares({
    slots: places,
    maxRunningPerProject: part(places, 4),
    maxRunningPerRequester: part(places, 12),
    maxRunningPerAddress: part(places, 6),
    maxWaitingPerRequester: part(maxWaiting, 4),
    maxWaiting,
  });

interface OutsideCalls {
  places: number;
  /** Default a third of the places. */
  perOwner?: number;
  maxWaiting?: number;
}

/** Calls that wait for somebody else's server. An address has a sixth of the places, and a fifth of those that wait. */
export const outsideCalls = ({
  places,
  perOwner = part(places, 3),
  maxWaiting = 500,
}: OutsideCalls): FairShares =>
  createFairShares({
    slots: places,
    maxRunningPerOwner: perOwner,
    maxRunningPerAddress: part(places, 6),
    maxWaitingPerRequester: part(maxWaiting, 5),
    maxWaiting,
  });
