import { equal, type Item } from '../../values.ts';
import type { ServerChange } from '../feed/stream.ts';
import { placeIn } from './items.ts';
import type { Write } from './writes.ts';

/** A write on its way, and records made meanwhile that may be what it makes. */
interface Pending {
  write: Write;
  held: ServerChange[];
}

interface Place {
  fits(record: Item): boolean | undefined;
  /** As the list shows it. */
  fill(record: Item): Item;
  order(a: Item, b: Item): number;
  limit: number;
}

/** A record of the server as this client has sent it. */
const isMadeBy = ({ isCreate, apply }: Write, record: Item): boolean => {
  if (!isCreate) return false;
  const { id: _id, createdAt: _created, updatedAt: _updated, ...sent } = apply(undefined) ?? {};
  return Object.entries(sent).every(([name, value]) => equal(value, record[name]));
};

/** What this client has sent and not heard of yet: lists show it as done. */
export const createPending = (place: Place) => {
  const pending = new Set<Pending>();

  const showOne = (items: Item[], { write }: Pending, ids: Set<string>, hasMore: boolean) => {
    const at = items.findIndex(({ id }) => id === write.id);
    const before = items[at];
    const after = write.apply(before);
    if (before) items.splice(at, 1);
    if (!after) return;
    const isFitting = place.fits(after);
    if (isFitting === false || (isFitting === undefined && !before)) return;
    const to = placeIn(items, after, place.order);
    if (!before && hasMore && to === items.length) return;
    items.splice(to, 0, place.fill(after));
    ids.add(write.id);
  };

  return {
    add(writes: readonly Write[]): Pending[] {
      const added = writes.map((write) => ({ write, held: [] }));
      for (const one of added) pending.add(one);
      return added;
    },
    /** @returns what was held back meanwhile */
    end(done: readonly Pending[]): ServerChange[] {
      for (const one of done) pending.delete(one);
      return done.flatMap(({ held }) => held);
    },
    /** Whether a change waits, so that a record is not shown beside the one that stands for it. */
    hold(change: ServerChange): boolean {
      const { type, record } = change;
      if (type !== 'create' || !record) return false;
      const maker = [...pending].find(
        ({ write, held }) => held.length === 0 && isMadeBy(write, record),
      );
      maker?.held.push(change);
      return maker !== undefined;
    },
    show(items: readonly Item[], hasMore: boolean) {
      const shown = [...items];
      const ids = new Set<string>();
      for (const one of pending) showOne(shown, one, ids, hasMore);
      return { items: shown.slice(0, place.limit), ids };
    },
  };
};
