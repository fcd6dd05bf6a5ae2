import type { Transport } from './transport.ts';

/** What the server adds to each record. */
export interface SystemFields {
  id: string;
  /** The user who created it. */
  ownerId: string | null;
  /** The group whose record it is. */
  groupId?: string;
  createdAt: string;
  updatedAt: string;
}

export type Stored<T> = T & SystemFields;

type Element<V> = V extends readonly (infer E)[] ? E | V : V;

interface Operators<V> {
  $eq?: Element<V> | null;
  $ne?: Element<V> | null;
  $gt?: Element<V>;
  $gte?: Element<V>;
  $lt?: Element<V>;
  $lte?: Element<V>;
  $in?: readonly (Element<V> | null)[];
  $nin?: readonly (Element<V> | null)[];
  $exists?: boolean;
  $size?: number;
  $all?: readonly Element<V>[];
  $contains?: string;
  $startsWith?: string;
  $endsWith?: string;
  /** `i`: upper and lower case are the same. */
  $options?: 'i';
  $not?: Operators<V>;
}

type Condition<V> = Element<V> | Operators<V> | null;

/** A filter: fields and what they have to be; dots lead into objects and arrays. */
export type Where<T> = { [K in keyof Stored<T>]?: Condition<Stored<T>[K]> } & {
  [path: `${string}.${string}`]: unknown;
  $and?: readonly Where<T>[];
  $or?: readonly Where<T>[];
  $nor?: readonly Where<T>[];
};

export interface Selection<T> {
  where?: Where<T>;
  /** Words that a record has to have, in a collection that can be searched; the best come first. */
  search?: string;
  /** Only the signed-in user's own. */
  mine?: boolean;
  /** Only those of this group. */
  group?: string;
  signal?: AbortSignal;
}

export interface ListOptions<T> extends Selection<T>, Shown {
  /** Up to three fields with commas between, `-` before one for descending. Default: newest first. */
  sort?: string;
  /** At most 1,000; 100 unless stated. */
  limit?: number;
  offset?: number;
  /** The `nextCursor` of the page before. */
  cursor?: string;
  /** With the number of all that match. */
  total?: boolean;
}

/** `sum`, `avg`, `min` and `max` name up to three fields together, with commas between. */
export interface AggregateOptions<T> extends Omit<Selection<T>, 'group' | 'search'> {
  /** The field by which records are grouped. */
  group?: string;
  sum?: string;
  avg?: string;
  min?: string;
  max?: string;
}

type Measured = Record<string, number | string | null>;

export interface RecordGroup {
  /** The value of the field; null where it is missing. */
  group?: unknown;
  count: number;
  sum?: Measured;
  avg?: Measured;
  min?: Measured;
  max?: Measured;
}

export interface Page<T> {
  items: Stored<T>[];
  hasMore: boolean;
  nextCursor: string | null;
  /** With the option `total`. */
  total?: number;
  /** Why nothing fits the filter, perhaps. */
  hint?: string;
}

export interface Changes<T> {
  /** Fields to set. */
  data?: Partial<T>;
  /** Fields to remove. */
  unset?: readonly (keyof T & string)[];
  /** Added to numbers on the server, so that parallel changes add up. */
  inc?: { [K in keyof T]?: number };
}

export interface Batch<T> {
  create?: readonly { data: T; groupId?: string }[];
  update?: readonly ({ id: string } & Changes<T>)[];
  delete?: readonly string[];
}

/** With a user, or with an e-mail address. */
export interface Share {
  userId?: string;
  email?: string;
  may: 'read' | 'change';
  createdAt: string;
}

export interface Written {
  id: string;
  updatedAt: string;
}

/** What is shown of records, names with commas between. */
export interface Shown {
  /** Of the record's fields these alone, and its id. */
  fields?: string;
  /** Fields whose ids become the records that they name: `authorId`, or `author:people`. */
  include?: string;
}

/** `ifMatch`: the version that a change has to find, from `getVersion`; else it fails with `precondition_failed`. */
export interface ChangeOptions {
  ifMatch?: string;
}

export type Collection<T> = ReturnType<typeof createCollection<T>>;

/** @param name of the collection; the first record makes it */
export const createCollection = <T>({ call, send }: Transport, name: string) => {
  const path = `/db/${encodeURIComponent(name)}`;
  const pathTo = (id: string) => `${path}/${encodeURIComponent(id)}`;
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
        `${path}/_count`,
        toQuery(selection),
      ),
    /** The largest groups first; without `group` all records are one. */
    aggregate: (options: AggregateOptions<T> = {}) =>
      call<{ groups: RecordGroup[]; hint?: string }>('GET', `${path}/_aggregate`, toQuery(options)),
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
      call<Share>('PUT', `${pathTo(id)}/_shares`, { body: share }),
    shares: async (id: string): Promise<Share[]> =>
      (await call<{ items: Share[] }>('GET', `${pathTo(id)}/_shares`)).items,
    /** @param who id or address, as it was shared */
    async unshare(id: string, who: string): Promise<void> {
      await call('DELETE', `${pathTo(id)}/_shares/${encodeURIComponent(who)}`);
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
        `${path}/_batch`,
        { body: operations },
      ),
  };
};
