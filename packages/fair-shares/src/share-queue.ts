import { RecentCosts } from './recent-costs.ts';
import { crowdBeside, Share } from './share.ts';

/** Who wants work done: each shares with those beside it what the one above it gets. */
export type Requester = readonly [owner: string, project: string, address: string];

export interface ShareQueueOptions {
  /** Items that one owner may have under way. */
  maxRunningPerOwner: number;
  maxRunningPerProject: number;
  /** From one address of a project. */
  maxRunningPerRequester: number;
  /** From one address, whoever's projects it calls. */
  maxRunningPerAddress: number;
  maxWaitingPerRequester: number;
  maxWaitingPerProject: number;
  maxWaiting: number;
  /** What an item counts for until its cost is known, before any was measured. */
  expectedMs: number;
  /** Milliseconds. */
  now: () => number;
}

/** Owners and addresses of little cost lately, or all. */
type Turn = 'light' | 'all';

export interface ShareUsage {
  owner: string;
  running: number;
  waiting: number;
  /** What its work has cost since it was last without any. */
  costMs: number;
}

export interface Taken<Item> {
  item: Item;
  share: Share<Item>;
  expectedMs: number;
}

/** Idle shares beside each other that are remembered because they have had more than their due. */
const maxIdle = 1000;

/** Weight of the latest cost in the expected one. */
const learning = 1 / 8;

/**
 * A hierarchical start-time fair queue (Goyal, Vin, Cheng 1996) whose costs are measured afterwards:
 * an item counts for the average cost while it runs. Who comes begins at the present, an average item
 * ahead, however little it had before; who has had more is remembered until the present reaches it.
 */
export class ShareQueue<Item> {
  readonly #root = new Share<Item>('');
  readonly #options: ShareQueueOptions;
  readonly #owners: RecentCosts;
  readonly #addresses: RecentCosts;
  readonly #runningAt = new Map<string, number>();
  #expectedMs: number;

  constructor(options: ShareQueueOptions) {
    this.#options = options;
    this.#owners = new RecentCosts(options.now);
    this.#addresses = new RecentCosts(options.now);
    this.#expectedMs = options.expectedMs;
  }

  get running(): number {
    return this.#root.running;
  }

  get waiting(): number {
    return this.#root.waiting;
  }

  /** Whether one more of this requester may wait, also where another's item would give way. */
  hasRoom(requester: Requester): boolean {
    return this.#roomFor(requester) !== 'full';
  }

  /**
   * Makes room for one more of this requester: where too many wait in its project, or in all, the latest item
   * of whoever has most of them gives way. Returns that item, 'full' where the newcomer itself is too many, or nothing.
   */
  makeRoom(requester: Requester): Item | 'full' | undefined {
    const crowd = this.#roomFor(requester);
    if (crowd === 'full' || crowd === 'free') return crowd === 'full' ? crowd : undefined;
    const item = crowd.items.at(-1);
    if (item === undefined) return 'full';
    this.remove(crowd, item);
    return item;
  }

  /** The requester whose latest item would give way, where one has to. */
  #roomFor(requester: Requester): Share<Item> | 'full' | 'free' {
    const { maxWaiting, maxWaitingPerRequester, maxWaitingPerProject } = this.#options;
    if ((this.#find(requester)?.waiting ?? 0) >= maxWaitingPerRequester) return 'full';
    const [owner, projectKey, address] = requester;
    const project = this.#find([owner, projectKey]);
    const isProjectFull = project !== undefined && project.waiting >= maxWaitingPerProject;
    if (!isProjectFull && this.#root.waiting < maxWaiting) return 'free';
    const crowd = isProjectFull
      ? crowdBeside(project, [address])
      : crowdBeside(this.#root, requester);
    return crowd ?? 'full';
  }

  /** @param isFirst before the requester's other items, where it continues what has begun */
  push(requester: Requester, item: Item, isFirst = false): Share<Item> {
    let share = this.#root;
    share.waiting += 1;
    for (const key of requester) {
      const child: Share<Item> = share.children.get(key) ?? new Share(key, share);
      share.children.set(key, child);
      if (child.waiting === 0) {
        child.virtualMs = Math.max(child.virtualMs, this.#entryMs(share));
        child.waitingSince = this.#options.now();
      }
      child.waiting += 1;
      share = child;
    }
    if (isFirst) share.items.unshift(item);
    else share.items.push(item);
    return share;
  }

  /** The next item that may run; whoever takes it tells its cost to `finish`. */
  take(): Taken<Item> | undefined {
    return this.#takeFrom('light') ?? this.#takeFrom('all');
  }

  #takeFrom(turn: Turn): Taken<Item> | undefined {
    let share = this.#root;
    for (let depth = 0; share.children.size > 0; depth++) {
      const next = this.#next(share, depth, turn);
      if (!next) return undefined;
      share.presentMs = Math.max(share.presentMs, next.virtualMs);
      share = next;
    }
    const item = share.items.shift();
    if (item === undefined) return undefined;
    const expectedMs = this.#expectedMs;
    this.#root.waiting -= 1;
    this.#root.running += 1;
    this.#countRunningAt(share.key, 1);
    for (const level of share.upwards()) {
      level.waiting -= 1;
      level.running += 1;
      level.virtualMs += expectedMs;
      level.waitingSince = this.#options.now();
    }
    return { item, share, expectedMs };
  }

  finish({ share, expectedMs }: Taken<Item>, costMs: number): void {
    this.#expectedMs += learning * (costMs - this.#expectedMs);
    this.#root.running -= 1;
    this.#countRunningAt(share.key, -1);
    for (const level of share.upwards()) {
      level.running -= 1;
      level.costMs += costMs;
      level.virtualMs += costMs - expectedMs;
      if (level.parent === this.#root) this.#owners.add(level.key, costMs);
    }
    this.#addresses.add(share.key, costMs);
    this.#forget(share);
  }

  /** Takes back an item that waits. */
  remove(share: Share<Item>, item: Item): void {
    share.items.splice(share.items.indexOf(item), 1);
    this.#root.waiting -= 1;
    for (const level of share.upwards()) level.waiting -= 1;
    this.#forget(share);
  }

  /** Owners with work, the most expensive first. */
  usage(): ShareUsage[] {
    return [...this.#root.children.values()]
      .filter((share) => !share.isIdle)
      .map(({ key, running, waiting, costMs }) => ({ owner: key, running, waiting, costMs }))
      .sort((a, b) => b.costMs - a.costMs);
  }

  /** Who comes goes before those who wait at the present, once: by no more than an average item. */
  #entryMs(parent: Share<Item>): number {
    return parent.presentMs - this.#expectedMs;
  }

  #find(requester: readonly string[]): Share<Item> | undefined {
    let share: Share<Item> | undefined = this.#root;
    for (const key of requester) share = share?.children.get(key);
    return share;
  }

  /** Looks at all who have work: a few hundred at most, and a slot is free for milliseconds of work. */
  #next(share: Share<Item>, depth: number, turn: Turn): Share<Item> | undefined {
    const entryMs = this.#entryMs(share);
    let best: Share<Item> | undefined;
    for (const child of share.children.values()) {
      if (child.isIdle && child.virtualMs <= entryMs) share.children.delete(child.key);
      if ((!best || child.rank < best.rank) && this.#mayRun(child, depth, turn)) best = child;
    }
    return best;
  }

  /** Whether one more of its items may run: it, and one of those below it, has fewer than it may. */
  #mayRun(share: Share<Item>, depth: number, turn: Turn): boolean {
    const { maxRunningPerOwner, maxRunningPerProject, maxRunningPerRequester } = this.#options;
    const most = [maxRunningPerOwner, maxRunningPerProject, maxRunningPerRequester][depth] ?? 0;
    if (share.waiting === 0 || share.running >= most) return false;
    if (turn === 'light' && depth === 0 && !this.#owners.isLight(share.key)) return false;
    if (share.items.length > 0) {
      const runningAt = this.#runningAt.get(share.key) ?? 0;
      if (runningAt >= this.#options.maxRunningPerAddress) return false;
      return turn === 'all' || this.#addresses.isLight(share.key);
    }
    for (const child of share.children.values())
      if (this.#mayRun(child, depth + 1, turn)) return true;
    return false;
  }

  #countRunningAt(address: string, change: 1 | -1): void {
    const running = (this.#runningAt.get(address) ?? 0) + change;
    if (running > 0) this.#runningAt.set(address, running);
    else this.#runningAt.delete(address);
  }

  #forget(leaf: Share<Item>): void {
    for (const share of leaf.upwards()) {
      if (!share.isIdle || !share.parent) return;
      share.children.clear();
      share.costMs = 0;
      const siblings = share.parent.children;
      const isAhead = share.virtualMs > this.#entryMs(share.parent);
      if (!isAhead || siblings.size > maxIdle) siblings.delete(share.key);
    }
    if (this.#root.isIdle) this.#root.children.clear();
  }
}
