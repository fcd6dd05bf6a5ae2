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
  /** Up to three fields by which records are grouped, with commas between; `createdAt:day`, `:week`, `:month` too. */
  group?: string;
  /** Of groups by time, such as `Europe/Berlin`; UTC unless stated. */
  timeZone?: string;
  sum?: string;
  avg?: string;
  min?: string;
  max?: string;
  /** A field whose different values are counted. */
  distinct?: string;
  /** The groups of which this holds: `{ 'sum.price': { $gte: 100 }, count: { $gt: 1 } }`. */
  having?: Record<string, unknown>;
  /** Up to three of the groups' fields, `count` and sums: `-sum.price,status`. Default: the largest first. */
  sort?: string;
}

type Measured = Record<string, number | string | null>;

export interface RecordGroup {
  /** The value of the field, of several an array; null where it is missing. Of a time the first day: `2026-01-31`. */
  group?: unknown;
  count: number;
  sum?: Measured;
  avg?: Measured;
  min?: Measured;
  max?: Measured;
  distinct?: Record<string, number>;
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

export interface Report {
  recordId: string;
  /** Whose record it is. */
  ownerId: string | null;
  /** Who reports it. */
  userId: string;
  reason: string;
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
  /** Fields whose ids become the records that they name: `authorId`, `author:people`; or users: `ownerId:users`. */
  include?: string;
}
