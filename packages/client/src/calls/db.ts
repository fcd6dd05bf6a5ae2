import { pathBelow } from '../path.ts';
import type { Transport } from '../transport.ts';
import { createLive } from './live.ts';
import type {
  AggregateOptions,
  Batch,
  Changes,
  ListOptions,
  Page,
  RecordGroup,
  Report,
  Selection,
  Share,
  Shown,
  Stored,
  Written,
} from './record-types.ts';

/** `ifMatch`: the version that a change has to find, from `getVersion`; else it fails with `precondition_failed`. */
export interface ChangeOptions {
  ifMatch?: string;
}

export type Collection<T> = ReturnType<typeof createCollection<T>>;

/** @param name of the collection; the first record makes it */
export const createCollection = <T>(transport: Transport, name: string) => {
  const { call, send } = transport;
  const { live, subscribe } = createLive<T>(transport, name);
  const pathTo = (...parts: string[]) => pathBelow('/db', name, ...parts);
  const path = pathTo();
  /** What is not known here goes as it is: the server refuses it by name, and tells the nearest. */
  const toQuery = <Options extends Selection<T>>({ mine, signal, ...rest }: Options) => ({
    query: { ...rest, mine: mine ? 1 : undefined },
    signal,
  });
  const list = (options: ListOptions<T> = {}) => call<Page<T>>('GET', path, toQuery(options));
  const onlyIf = ({ ifMatch, ...query }: ChangeOptions) => ({
    headers: { 'If-Match': ifMatch },
    query,
  });

  return {
    list,
    /**
     * A list that stays true: `onItems` is told it at first, and anew after each change by anyone. What this client
     * writes shows at once, and goes away again where the server refuses it. Call what it returns to end that.
     */
    live,
    /** Each change of what fits, as it happens. Call what it returns to end that. */
    subscribe,
    /** All that match, page by page, as they are asked for. */
    async *all(options: Omit<ListOptions<T>, 'cursor' | 'offset'> = {}): AsyncGenerator<Stored<T>> {
      let cursor: string | undefined;
      do {
        const page: Page<T> = await list({ ...options, ...(cursor !== undefined && { cursor }) });
        yield* page.items;
        cursor = page.nextCursor ?? undefined;
      } while (cursor !== undefined);
    },
    /** `approximate` where counting all would take too long. */
    count: (selection: Selection<T> = {}) =>
      call<{ count: number; approximate?: true; hint?: string }>(
        'GET',
        pathTo('_count'),
        toQuery(selection),
      ),
    /** The largest groups first unless `sort` says otherwise; without `group` all records are one. */
    aggregate: (options: AggregateOptions<T> = {}) =>
      call<{ groups: RecordGroup[]; hint?: string }>('GET', pathTo('_aggregate'), toQuery(options)),
    get: (id: string, shown: Shown = {}) =>
      call<Stored<T>>('GET', pathTo(id), { query: { ...shown } }),
    /** The record with its version, for `ifMatch` of a later change. */
    async getVersion(id: string): Promise<{ record: Stored<T>; version: string }> {
      const response = await send('GET', pathTo(id));
      return {
        record: (await response.json()) as Stored<T>,
        version: response.headers.get('etag') ?? '',
      };
    },
    /** @param options `groupId`: the group whose record it becomes, where the collection knows groups */
    create: (data: T, options: { groupId?: string } = {}) =>
      // Data at the end is what the server need not keep for the Idempotency-Key.
      call<Stored<T>>('POST', path, { body: { ...options, data } }),
    /**
     * Of one's own, where the rules of the collection say `shared`; with a user or an address. Replaces an
     * older one of the same.
     */
    share: (id: string, share: ({ userId: string } | { email: string }) & Pick<Share, 'may'>) =>
      call<Share>('PUT', pathTo(id, '_shares'), { body: share }),
    shares: async (id: string): Promise<Share[]> =>
      (await call<{ items: Share[] }>('GET', pathTo(id, '_shares'))).items,
    /** @param who id or address, as it was shared */
    async unshare(id: string, who: string): Promise<void> {
      await call('DELETE', pathTo(id, '_shares', who));
    },
    /** Tells who moderates the app of a record; another report by the same user is replaced. */
    async report(id: string, reason: string): Promise<void> {
      await call('POST', pathTo(id, '_report'), { body: { reason } });
    },
    /** What users have reported, newest first. For the project's owner, keys, and roles that may block users. */
    reports: (options: { limit?: number; cursor?: string } = {}) =>
      call<{ items: Report[]; hasMore: boolean; nextCursor: string | null }>(
        'GET',
        pathTo('_reports'),
        { query: { ...options } },
      ),
    /** Takes the reports of a record off the list. */
    async dismissReports(id: string): Promise<void> {
      await call('DELETE', pathTo(id, '_report'));
    },
    /** Merges top-level fields; with `merge: 'deep'` objects at all levels. */
    update: (
      id: string,
      changes: Changes<T>,
      options: ChangeOptions & { merge?: 'deep' | 'shallow' } = {},
    ) => call<Stored<T>>('PATCH', pathTo(id), { body: changes, ...onlyIf(options) }),
    /** @param options `upsert` creates the record where there is none: its id is then a new one of `newId()` */
    replace: (id: string, data: T, options: ChangeOptions & { upsert?: boolean } = {}) =>
      call<Stored<T>>('PUT', pathTo(id), { body: { data }, ...onlyIf(options) }),
    async delete(id: string, options: ChangeOptions = {}): Promise<void> {
      await call('DELETE', pathTo(id), { ...onlyIf(options), canRepeat: false });
    },
    /**
     * For the project's owner and keys: deletes what fits, in as many calls as that takes.
     * @param options `dryRun` only counts
     */
    async deleteWhere(
      where: NonNullable<Selection<T>['where']>,
      options: { dryRun?: boolean } = {},
    ): Promise<{ count: number }> {
      let count = 0;
      let cursor: string | undefined;
      do {
        const query = { where, dryRun: options.dryRun ? 1 : undefined, cursor };
        const part = await call<{ count: number; nextCursor: string | null }>('DELETE', path, {
          query,
        });
        count += part.count;
        cursor = part.nextCursor ?? undefined;
      } while (cursor !== undefined);
      return { count };
    },
    /** Up to 500 operations, all or none. */
    batch: (operations: Batch<T>) =>
      call<{ create: Written[]; update: Written[]; delete: { id: string }[] }>(
        'POST',
        pathTo('_batch'),
        { body: operations },
      ),
  };
};
