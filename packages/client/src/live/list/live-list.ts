import type { BacklotError } from '../../error.ts';
import { pathBelow } from '../../path.ts';
import { isPassing, pauseMsAfter, type Transport } from '../../transport.ts';
import type { Item } from '../../values.ts';
import type { Subscriber } from '../feed/feed.ts';
import type { ServerChange } from '../feed/stream.ts';
import { createIncludes } from './includes.ts';
import { createItems } from './items.ts';
import { fieldsToAsk, fits, type Options, show, toWhere } from './options.ts';
import { orderBy } from './order.ts';
import { createPending } from './pending.ts';
import type { SentWrites } from './writes.ts';

export interface State {
  pending: ReadonlySet<string>;
  hasMore: boolean;
}

export interface LiveList extends Subscriber {
  collection: string;
  sent(writes: SentWrites): void;
  stop(): void;
}

/** As of lists. */
const usualLimit = 100;
/** Changes that come together lead to one more reading. */
const readAgainMs = 300;
/** Past as many changes while a list is read it is read once more. */
const maxArrived = 1000;

export const createLiveList = (
  { transport, userId }: { transport: Transport; userId: () => string | null },
  collection: string,
  options: Options,
  onItems: (items: Item[], state: State) => void,
): LiveList => {
  const { where, search, mine, group, sort, include, limit = usualLimit } = options;
  const path = pathBelow('/db', collection);
  const fields = fieldsToAsk(options);
  const query = { where, search, mine: mine ? 1 : undefined, group, sort, limit, include, fields };
  const includes = createIncludes(include);
  const order = orderBy(sort);
  const items = createItems(order, limit);
  const doesFit = (record: Item) => fits(options, userId(), includes.strip(record));
  const fill = (record: Item) => includes.fill(record) ?? record;
  const pending = createPending({ fits: doesFit, fill, order, limit });

  let isStopped = false;
  let isLoaded = false;
  /** Counts who has signed in: what was read for another is nobody's. */
  let turn = 0;
  let isReading = false;
  let mustReadAgain = false;
  let failures = 0;
  let arrived: ServerChange[] = [];
  let readTimer: ReturnType<typeof setTimeout> | undefined;
  let showTimer: ReturnType<typeof setTimeout> | undefined;

  const showNow = () => {
    showTimer = undefined;
    if (isStopped || !isLoaded) return;
    const { items: shown, ids } = pending.show(items.all(), items.hasMore());
    const records = shown.map((record) => show(record, options.fields));
    onItems(records, { pending: ids, hasMore: items.hasMore() });
  };
  const showSoon = () => {
    showTimer ??= setTimeout(showNow, 0);
  };
  const fail = (error: Error) => {
    if (isStopped) return;
    if (options.onError) options.onError(error);
    else console.warn(`Backlot: a live list of "${collection}": ${error.message}`);
  };

  const readSoon = (ms = readAgainMs) => {
    readTimer ??= setTimeout(() => {
      readTimer = undefined;
      void read();
    }, ms);
  };
  const load = async (of: number) => {
    const page = await transport.call<{ items: Item[]; hasMore: boolean }>('GET', path, { query });
    if (of !== turn) return;
    items.set(page.items, page.hasMore);
    includes.learn(page.items);
    isLoaded = true;
    failures = 0;
    for (const change of arrived) apply(change);
    showSoon();
  };
  const afterFailure = (error: BacklotError, of: number) => {
    if (of !== turn) return;
    if (isPassing(error)) return readSoon(pauseMsAfter(error, failures++));
    // Of somebody who may read nothing nothing stays.
    items.set([], false);
    isLoaded = true;
    showSoon();
    fail(error);
  };
  const read = async (): Promise<void> => {
    mustReadAgain = isReading;
    if (isReading || isStopped) return;
    isReading = true;
    arrived = [];
    const of = turn;
    await load(of).catch((error) => afterFailure(error, of));
    isReading = false;
    if (mustReadAgain) await read();
  };

  const remove = (id: string) => {
    if (items.remove(id)) readSoon();
  };
  const place = (record: Item) => {
    const known = items.find(record.id);
    // One that was read or answered later.
    if (String(known?.updatedAt ?? '') > String(record.updatedAt ?? '')) return;
    const filled = includes.fill(record);
    // What it names was never seen, or its place is the server's to say.
    if (filled === undefined || (search !== undefined && sort === undefined)) return readSoon();
    if (items.put(filled)) readSoon();
  };
  const apply = ({ type, id, record }: ServerChange) => {
    const isFitting = record && type !== 'leave' && type !== 'delete' ? doesFit(record) : false;
    if (isFitting === undefined) readSoon();
    else if (isFitting && record) place(record);
    else remove(id);
  };
  const change = (told: ServerChange) => {
    if (told.collection !== collection) return;
    if (pending.hold(told)) return;
    if (isReading && arrived.push(told) > maxArrived) {
      arrived = [];
      mustReadAgain = true;
    }
    apply(told);
    showSoon();
  };

  return {
    collection,
    want: (id) => ({ collection, where: toWhere(options, id) }),
    begin: () => void read(),
    late() {
      if (!isLoaded) void read();
    },
    forget() {
      turn++;
      isLoaded = false;
      mustReadAgain = isReading;
    },
    change,
    fail(error) {
      fail(error);
      // It is shown as it is now, though nobody tells of changes.
      if (!isLoaded) void read();
    },
    sent({ writes, answer }) {
      const added = pending.add(writes);
      showSoon();
      const end = () => {
        for (const told of pending.end(added)) change(told);
        showSoon();
      };
      const settle = async (records: readonly Item[]) => {
        const [record] = records;
        if (record) apply({ collection, type: 'update', id: record.id, record, changedAt: '' });
        else if (writes.every(({ apply: becomes }) => becomes(undefined) === undefined))
          for (const { id } of writes) remove(id);
        else await read();
        end();
      };
      answer.then(settle).catch(end);
    },
    stop() {
      isStopped = true;
      clearTimeout(readTimer);
      clearTimeout(showTimer);
    },
  };
};
