export interface PlaceBounds {
  /** All together. */
  total: number;
  perAddress: number;
}

/** Whether room was taken; `address-full` where the address has all that it may have, `full` where others have the rest. */
export type TakenPlaces = 'taken' | 'address-full' | 'full';

/** A number of things (connections, calls, bytes) that network addresses may hold at a time. */
export interface Places {
  take(address: string, count?: number): TakenPlaces;
  leave(address: string, count?: number): void;
}

/**
 * However few are left, an address holds no more than it leaves free: n addresses that want all get
 * 1/(n+1) each, and a newcomer finds as much (dynamic thresholds: Choudhury, Hahne 1998).
 */
export const createPlaces = ({ total, perAddress }: PlaceBounds): Places => {
  const held = new Map<string, number>();
  let heldByAll = 0;
  return {
    take(address, count = 1) {
      const next = (held.get(address) ?? 0) + count;
      if (next > perAddress) return 'address-full';
      if (next > total - heldByAll) return 'full';
      heldByAll += count;
      held.set(address, next);
      return 'taken';
    },
    leave(address, count = 1) {
      heldByAll -= count;
      const left = (held.get(address) ?? count) - count;
      if (left > 0) held.set(address, left);
      else held.delete(address);
    },
  };
};
