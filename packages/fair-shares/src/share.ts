/** What a share that waits gains on those who come later, so that no stream of newcomers can starve it. */
const gainPerWaitedMs = 0.01;

/** An owner, a project of theirs or one of its addresses; the last has the items. */
export class Share<Item> {
  readonly key: string;
  readonly parent: Share<Item> | undefined;
  readonly children = new Map<string, Share<Item>>();
  readonly items: Item[] = [];
  waiting = 0;
  running = 0;
  costMs = 0;
  /** The virtual time: what it has cost, and at least where others stood when it came. */
  virtualMs = Number.NEGATIVE_INFINITY;
  /** The virtual time of the child that went last: where those who come begin. */
  presentMs = 0;
  /** When it began to wait, or an item of it last went. */
  waitingSince = 0;

  constructor(key: string, parent?: Share<Item>) {
    this.key = key;
    this.parent = parent;
  }

  get isIdle(): boolean {
    return this.waiting === 0 && this.running === 0;
  }

  get rank(): number {
    return this.virtualMs + gainPerWaitedMs * this.waitingSince;
  }

  /** Itself and those above it, without the root. */
  *upwards(): Generator<Share<Item>> {
    for (let share: Share<Item> = this; share.parent; share = share.parent) yield share;
  }
}

const largestChild = <Item>(share: Share<Item>): Share<Item> | undefined => {
  let largest: Share<Item> | undefined;
  for (const child of share.children.values()) {
    if (!largest || child.waiting > largest.waiting) largest = child;
  }
  return largest;
};

const largestLeaf = <Item>(share: Share<Item>): Share<Item> => {
  let leaf = share;
  for (let child = largestChild(leaf); child; child = largestChild(leaf)) leaf = child;
  return leaf;
};

/** The requester with most waiting items of whoever has most of them, unless that is the newcomer. */
export const crowdBeside = <Item>(
  above: Share<Item>,
  newcomer: readonly string[],
): Share<Item> | undefined => {
  let share = above;
  for (const key of newcomer) {
    const own = share.children.get(key);
    const largest = largestChild(share);
    if (largest && largest.waiting > (own?.waiting ?? 0) + 1) return largestLeaf(largest);
    if (!own) return undefined;
    share = own;
  }
  return undefined;
};
