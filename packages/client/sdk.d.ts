/**
 * The client of one Backlot project. It needs `fetch` and nothing else, so that it runs in browsers, Node,
 * Deno, Bun and React Native.
 */
export interface ClientOptions {
    /** A project's secret key, for servers: calls are then the project's own. Never in a browser. */
    key?: string;
    /** Where a signed-in user's token is kept. Default: `localStorage` in browsers, memory elsewhere. */
    storage?: TokenStorage;
    fetch?: typeof fetch;
    /** How often a call is repeated that the server could not take; 2 unless stated. */
    retries?: number;
}
export interface Mail {
    /** One address, up to 10, or `owner`: whoever the project belongs to. */
    to: string | readonly string[];
    /** In copy; at most 10 addresses together with `to`. */
    cc?: string | readonly string[];
    /** In blind copy, which no reader sees; counted with the others. */
    bcc?: string | readonly string[];
    /** Where answers go. */
    replyTo?: string;
    /** Ids of files that the caller may read: up to 10, together 10 MB. */
    attachments?: readonly string[];
    subject: string;
    html: string;
}
/** Of a project whose collections have not been described. */
type Collections = Record<string, Record<string, unknown>>;
/**
 * @param baseUrl `<host>/api/runtime/<project id>`
 * @example
 * const client = createClient('https://api.example.org/api/runtime/demo');
 * await client.auth.signIn({ email, password });
 * await client.db('todos').create({ title: 'Buy milk' });
 */
export declare const createClient: <Project extends { [K in keyof Project]: object; } = Collections>(baseUrl: string, options?: ClientOptions) => {
    /** For what stands beside the client, such as uploads in parts. */
    transport: Transport;
    auth: Auth;
    db: <Name extends keyof Project & string>(collection: Name) => Collection<Project[Name]>;
    groups: Groups;
    users: Users;
    ai: Ai;
    storage: Storage;
    email: {
        /** Stored, and delivered with retries. */
        send: (mail: Mail) => Promise<void>;
    };
    payments: Payments;
    /** What the project sells, at prices of its own. */
    products: Products;
};
/** What `createClient<Project>` makes. */
export type Client<Project extends {
    [K in keyof Project]: object;
} = Collections> = ReturnType<typeof createClient<Project>>;
/** `fileId`: of an image that the caller may read; in messages of role `user`, up to 4. */
type MessagePart = {
    type: 'text';
    text: string;
} | {
    type: 'image';
    fileId: string;
};
interface Message {
    role: 'system' | 'user' | 'assistant';
    content: string | readonly MessagePart[];
}
interface Prompt {
    messages: readonly Message[];
    /** Put before all messages. */
    system?: string;
    /** The name of an owner's prompt, in place of `system`. */
    prompt?: string;
    /** `true`: any JSON; else a JSON Schema, an example or a sketch of the answer. */
    json?: boolean | Record<string, unknown>;
    maxTokens?: number;
    signal?: AbortSignal;
}
interface Generated {
    text: string;
    /** With `json`: the parsed value. */
    data?: unknown;
}
type Ai = ReturnType<typeof createAi>;
declare const createAi: ({ call, send }: Transport) => {
    generate({ signal, ...body }: Prompt): Promise<Generated>;
    /** Yields the text as it comes; the generator's return value is the whole answer. */
    stream(prompt: Prompt, ...others: never[]): AsyncGenerator<string, Generated>;
};
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
/** Objects go as JSON, lists with commas between. */
type Query = Record<string, unknown>;
interface CallOptions {
    query?: Query;
    /** A form and bytes go as they are, all else as JSON; what is no JSON is refused. */
    body?: unknown;
    headers?: Record<string, string | undefined>;
    signal?: AbortSignal | undefined;
    /** Whether the same call may be sent again. Default: all but PATCH; a POST carries an Idempotency-Key. */
    canRepeat?: boolean;
}
interface TransportOptions {
    /** `<host>/api/runtime/<project>`. */
    baseUrl: string;
    fetch: typeof fetch;
    /** How often a call is repeated at most. */
    retries: number;
    /** The value of `Authorization`. */
    authorization(): Promise<string | undefined>;
}
interface Transport {
    url(path: string, query?: Query): string;
    authorization(): Promise<string | undefined>;
    /** @throws BacklotError */
    send(method: Method, path: string, options?: CallOptions): Promise<Response>;
    /** The answer's JSON. @throws BacklotError */
    call<T>(method: Method, path: string, options?: CallOptions): Promise<T>;
}
/** A call waits no longer than this for another try. */
declare const maxWaitMs = 30000;
declare const isPassing: ({ status, code }: BacklotError) => boolean;
declare const pauseMsAfter: ({ retryAfterSeconds }: BacklotError, tries: number) => number;
/** Somewhat longer, by chance, so that those who were refused together don't come back together. */
declare const wait: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
declare const createTransport: ({ baseUrl, fetch, retries, authorization, }: TransportOptions) => Transport;
/** What an answer says of a failure; `status` is 0 where there was no answer. */
interface Failure {
    error?: string;
    code?: string;
    hint?: string;
    requestId?: string;
}
/** Every failed call of the client. `message` is a sentence for a developer. */
declare class BacklotError extends Error {
    readonly name = "BacklotError";
    /** HTTP status; 0 where no answer came. */
    readonly status: number;
    /** One word for programs, such as `not_found`; `network` where no answer came. */
    readonly code: string;
    /** What to do about it, where the server knows. */
    readonly hint: string | undefined;
    readonly requestId: string | undefined;
    /** When the same call may be tried again. */
    readonly retryAfterSeconds: number | undefined;
    constructor(status: number, failure: Failure, retryAfterSeconds?: number, cause?: unknown);
}
interface User {
    id: string;
    email: string;
    name: string | null;
    /** Id of a file. */
    avatar: string | null;
    /** What the app keeps of the user, up to 8 KB as JSON. */
    profile: Record<string, unknown>;
    role: string;
    emailVerified: boolean;
    createdAt: string;
    updatedAt: string;
}
/** Where a signed-in user's token is kept. */
interface TokenStorage {
    get(): string | null | Promise<string | null>;
    /** @param token null when the user has signed out */
    set(token: string | null): void | Promise<void>;
}
/** `localStorage` in browsers, memory elsewhere. @param name differs by project */
declare const createTokenStorage: (name: string) => TokenStorage;
/**
 * The current user's token, renewed once half of its time is over. A renewal that fails changes nothing:
 * the next call tries again.
 */
declare const createTokenKeeper: (storage: TokenStorage, refresh: (token: string) => Promise<string>) => {
    current(): Promise<string | null>;
};
type Auth = ReturnType<typeof createAuth>;
declare const createAuth: ({ call }: Transport, storage: TokenStorage) => {
    /** The signed-in user; null without a token, or with one that is over. */
    me: () => Promise<User | null>;
    /** Creates an account and signs in. */
    signUp: (account: {
        email: string;
        password: string;
        name?: string;
    }) => Promise<User>;
    signIn: (account: {
        email: string;
        password: string;
    }) => Promise<User>;
    /** Ends the session everywhere. The token is forgotten even where the server can't be told. */
    signOut(): Promise<void>;
    updateMe: (changes: {
        name?: string | null;
        avatar?: string | null;
        profile?: Record<string, unknown>;
    }) => Promise<User>;
    /** Erases the account. */
    deleteMe(): Promise<void>;
    /** Ends all other sessions. */
    changePassword: (change: {
        currentPassword: string;
        newPassword: string;
    }) => Promise<void>;
    /** Mails links to the present and the new address; once both were followed, the address changes. */
    changeEmail: (change: {
        email: string;
        password: string;
    }) => Promise<void>;
    /**
     * Whether the address has changed; false while the link in the other mail has not been followed.
     * @param password as in `verifyEmail`
     */
    confirmEmailChange: (token: string, password?: string) => Promise<boolean>;
    /** Mails a link, where there is such an account. */
    forgotPassword: (email: string) => Promise<void>;
    resetPassword: (token: string, password: string) => Promise<void>;
    /**
     * @param password of the account, from who is not signed in to it in this client: without it
     * all sessions of the account end and its password too: a link for a new one is mailed
     */
    verifyEmail: (token: string, password?: string) => Promise<void>;
    /**
     * Told who is signed in, null for nobody: at once, of the session that is kept, and then of each sign-in
     * and sign-out of this client. Call what it returns to end that.
     */
    onChange(listener: (user: User | null) => void): () => void;
};
/** What the server adds to each record. */
interface SystemFields {
    id: string;
    /** The user who created it. */
    ownerId: string | null;
    /** The group whose record it is. */
    groupId?: string;
    createdAt: string;
    updatedAt: string;
}
type Stored<T> = T & SystemFields;
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
type Where<T> = {
    [K in keyof Stored<T>]?: Condition<Stored<T>[K]>;
} & {
    [path: `${string}.${string}`]: unknown;
    $and?: readonly Where<T>[];
    $or?: readonly Where<T>[];
    $nor?: readonly Where<T>[];
};
interface Selection<T> {
    where?: Where<T>;
    /** Words that a record has to have, in a collection that can be searched; the best come first. */
    search?: string;
    /** Only the signed-in user's own. */
    mine?: boolean;
    /** Only those of this group. */
    group?: string;
    signal?: AbortSignal;
}
interface ListOptions<T> extends Selection<T>, Shown {
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
interface AggregateOptions<T> extends Omit<Selection<T>, 'group' | 'search'> {
    /** The field by which records are grouped. */
    group?: string;
    sum?: string;
    avg?: string;
    min?: string;
    max?: string;
}
type Measured = Record<string, number | string | null>;
interface RecordGroup {
    /** The value of the field; null where it is missing. */
    group?: unknown;
    count: number;
    sum?: Measured;
    avg?: Measured;
    min?: Measured;
    max?: Measured;
}
interface Page<T> {
    items: Stored<T>[];
    hasMore: boolean;
    nextCursor: string | null;
    /** With the option `total`. */
    total?: number;
    /** Why nothing fits the filter, perhaps. */
    hint?: string;
}
interface Changes<T> {
    /** Fields to set. */
    data?: Partial<T>;
    /** Fields to remove. */
    unset?: readonly (keyof T & string)[];
    /** Added to numbers on the server, so that parallel changes add up. */
    inc?: {
        [K in keyof T]?: number;
    };
}
interface Batch<T> {
    create?: readonly {
        data: T;
        groupId?: string;
    }[];
    update?: readonly ({
        id: string;
    } & Changes<T>)[];
    delete?: readonly string[];
}
/** With a user, or with an e-mail address. */
interface Share {
    userId?: string;
    email?: string;
    may: 'read' | 'change';
    createdAt: string;
}
interface Written {
    id: string;
    updatedAt: string;
}
/** What is shown of records, names with commas between. */
interface Shown {
    /** Of the record's fields these alone, and its id. */
    fields?: string;
    /** Fields whose ids become the records that they name: `authorId`, or `author:people`. */
    include?: string;
}
/** `ifMatch`: the version that a change has to find, from `getVersion`; else it fails with `precondition_failed`. */
interface ChangeOptions {
    ifMatch?: string;
}
type Collection<T> = ReturnType<typeof createCollection<T>>;
/** @param name of the collection; the first record makes it */
declare const createCollection: <T>({ call, send }: Transport, name: string) => {
    list: (options?: ListOptions<T>) => Promise<Page<T>>;
    /** All that match, page by page, as they are asked for. */
    all(options?: Omit<ListOptions<T>, 'cursor' | 'offset'>): AsyncGenerator<Stored<T>>;
    /** `approximate` where counting all would take too long. */
    count: (selection?: Selection<T>) => Promise<{
        count: number;
        approximate?: true;
        hint?: string;
    }>;
    /** The largest groups first; without `group` all records are one. */
    aggregate: (options?: AggregateOptions<T>) => Promise<{
        groups: RecordGroup[];
        hint?: string;
    }>;
    get: (id: string, shown?: Shown) => Promise<Stored<T>>;
    /** The record with its version, for `ifMatch` of a later change. */
    getVersion(id: string): Promise<{
        record: Stored<T>;
        version: string;
    }>;
    /** @param options `groupId`: the group whose record it becomes, where the collection knows groups */
    create: (data: T, options?: {
        groupId?: string;
    }) => Promise<Stored<T>>;
    /**
     * Of one's own, where the rules of the collection say `shared`; with a user or an address. Replaces an
     * older one of the same.
     */
    share: (id: string, share: ({
        userId: string;
    } | {
        email: string;
    }) & Pick<Share, 'may'>) => Promise<Share>;
    shares: (id: string) => Promise<Share[]>;
    /** @param who id or address, as it was shared */
    unshare(id: string, who: string): Promise<void>;
    /** Merges top-level fields; with `merge: 'deep'` objects at all levels. */
    update: (id: string, changes: Changes<T>, options?: ChangeOptions & {
        merge?: 'deep' | 'shallow';
    }) => Promise<Stored<T>>;
    /** @param options `upsert` creates the record where there is none: its id is then a new one of `newId()` */
    replace: (id: string, data: T, options?: ChangeOptions & {
        upsert?: boolean;
    }) => Promise<Stored<T>>;
    delete(id: string, options?: ChangeOptions): Promise<void>;
    /**
     * For the project's owner and keys: deletes what fits, in as many calls as that takes.
     * @param options `dryRun` only counts
     */
    deleteWhere(where: NonNullable<Selection<T>['where']>, options?: {
        dryRun?: boolean;
    }): Promise<{
        count: number;
    }>;
    /** Up to 500 operations, all or none. */
    batch: (operations: Batch<T>) => Promise<{
        create: Written[];
        update: Written[];
        delete: {
            id: string;
        }[];
    }>;
};
interface Group {
    id: string;
    name: string;
    /** What the signed-in user is in it: `owner` and `admin` manage it. */
    role: string | null;
    createdAt: string;
}
/** Whom others see: never an address. */
interface Person {
    id: string;
    name: string | null;
    /** Id of a file. */
    avatar: string | null;
}
interface Member extends Person {
    role: string;
    joinedAt: string;
}
interface Invite {
    id: string;
    email: string;
    role: string;
    createdAt: string;
    expiresAt: string;
}
interface List<T> {
    items: T[];
    hasMore: boolean;
    nextCursor: string | null;
}
interface PageOptions {
    limit?: number;
    /** The `nextCursor` of the page before. */
    cursor?: string;
}
type Groups = ReturnType<typeof createGroups>;
type Users = ReturnType<typeof createUsers>;
declare const createGroups: ({ call }: Transport) => {
    /** The signed-in user becomes its owner. */
    create: (name: string) => Promise<Group>;
    /** The signed-in user's, newest first. */
    list: (options?: PageOptions) => Promise<List<Group>>;
    rename: (id: string, name: string) => Promise<Group>;
    delete(id: string): Promise<void>;
    members: (id: string, options?: PageOptions) => Promise<List<Member>>;
    setRole: (id: string, userId: string, role: string) => Promise<Member>;
    /** Also for leaving oneself. */
    remove(id: string, userId: string): Promise<void>;
    /** Mails a link that works once. */
    invite: (id: string, invitation: {
        email: string;
        role?: string;
    }) => Promise<Invite>;
    invites: (id: string) => Promise<List<Invite>>;
    revokeInvite(id: string, inviteId: string): Promise<void>;
    /** @param token of the mailed link */
    join: (token: string) => Promise<Group>;
};
declare const createUsers: ({ call }: Transport) => {
    /** Those of up to 100 users with whom the signed-in one shares a group. */
    find: (ids: readonly string[]) => Promise<Person[]>;
    /** With the token of the project's owner. */
    setRole: (id: string, role: string) => Promise<Person & {
        role: string;
    }>;
};
/** In the currency's smallest unit: 1999 is 19.99 USD. */
interface FreeItem {
    name: string;
    amount: number;
    quantity?: number;
}
/** At the price that the project's owner has set. */
interface ProductItem {
    product: string;
    quantity?: number;
}
interface Checkout {
    items: readonly (FreeItem | ProductItem)[];
    /** ISO 4217; that of the products, else `usd`. */
    currency?: string;
    /** Where the payer comes back to, with `session_id` added. */
    returnUrl: string;
    metadata?: Record<string, string | number | boolean>;
    /** The record that the payment changes, once, as a rule of the owner says. */
    onPaid?: {
        rule: string;
        recordId: string;
    };
}
interface Payment {
    id: string;
    sessionId: string;
    status: 'open' | 'paid' | 'failed' | 'expired' | 'refunding' | 'refunded';
    /** Whether real money moves. */
    livemode: boolean;
    amount: number;
    currency: string;
    items: {
        name: string;
        amount: number;
        quantity: number;
        product?: string;
    }[];
    metadata: Record<string, string>;
    /** What went back of the amount, and what the owner gave back. */
    refundedAmount: number;
    refunds: {
        id: string;
        amount: number;
        status: 'pending' | 'done';
        createdAt: string;
    }[];
    /** Why it was given back by itself. */
    refundReason: 'out_of_stock' | null;
    onPaid: {
        rule: string;
        recordId: string;
        outcome: 'unpaid' | 'pending' | 'done' | 'not_found' | 'items_differ' | 'already_paid' | 'not_unique' | 'too_large';
    } | null;
    /** Why it can not be paid: the project takes payments with other keys since. */
    closedReason: 'mode_changed' | null;
    /** When money came that was not for the project's present keys: it paid nothing. */
    latePaidAt: string | null;
    createdAt: string;
    paidAt: string | null;
}
interface Product {
    id: string;
    name: string;
    /** In the currency's smallest unit. */
    amount: number;
    currency: string;
    /** How many are left; null where nobody counts. */
    stock: number | null;
    /** Whether it is for sale. */
    active: boolean;
    createdAt: string;
    updatedAt: string;
}
/** What an owner or a key says of a product; a stock that is left out stays as it is. */
interface ProductChange {
    name: string;
    amount: number;
    currency?: string;
    stock?: number | null;
    active?: boolean;
}
type Payments = ReturnType<typeof createPayments>;
type Products = ReturnType<typeof createProducts>;
declare const createPayments: ({ call }: Transport) => {
    /** Send the payer to `url`. */
    checkout: (checkout: Checkout) => Promise<{
        url: string;
        sessionId: string;
    }>;
    /** `payment` is for the payer: the user who opened it, or who holds the session where nobody was signed in. */
    verify: (sessionId: string) => Promise<{
        paid: boolean;
        payment?: Payment;
    }>;
    /** One's own, newest first; an owner or a key sees all. */
    list: (options?: PageOptions & {
        status?: Payment['status'];
        sort?: 'createdAt' | '-createdAt';
    }) => Promise<List<Payment>>;
};
declare const createProducts: ({ call }: Transport) => {
    /** Newest first. */
    list: (options?: PageOptions) => Promise<List<Product>>;
    get: (id: string) => Promise<Product>;
    /** Creates or replaces it. */
    set: (id: string, product: ProductChange) => Promise<Product>;
    delete: (id: string) => Promise<void>;
};
interface StoredFile {
    id: string;
    url: string;
    name: string;
    /** Bytes. */
    size: number;
    /** Media type, told from the content. */
    type: string;
}
/** As lists show it. */
interface ListedFile extends StoredFile {
    visibility: 'public' | 'private';
    ownerId: string | null;
    groupId: string | null;
    createdAt: string;
}
interface UploadOptions {
    /** Default: the file's own. */
    name?: string;
    /** Default: public, or private with `groupId`. */
    visibility?: 'public' | 'private';
    /** A group that the signed-in user is in: the file belongs to it, and opens to its members. */
    groupId?: string;
    /** Told how many bytes have gone: in browsers as they go, elsewhere at the end. */
    onProgress?: (sent: number, total: number) => void;
    signal?: AbortSignal;
}
type Storage = ReturnType<typeof createStorage>;
declare const createStorage: ({ call, url, authorization }: Transport) => {
    upload(file: Blob, options?: UploadOptions): Promise<StoredFile>;
    /** The signed-in user's files, or those of a group, newest first. */
    list: (options?: {
        group?: string;
        limit?: number;
        cursor?: string;
    }) => Promise<{
        items: ListedFile[];
        hasMore: boolean;
        nextCursor: string | null;
    }>;
    /** An address that opens a private file for so many seconds, to whoever has it. */
    sign: (id: string, expiresIn: number) => Promise<{
        url: string;
        expiresAt: string;
    }>;
    delete(id: string): Promise<void>;
};
/**
 * A new UUIDv7, under which this client may make a record: `db('todos').replace(newId(), data, { upsert:
 * true })`. Later ones are greater, within a millisecond too.
 */
declare const newId: () => string;
export { AggregateOptions, Ai, Auth, BacklotError, Batch, Changes, Checkout, Collection, Generated, Group, Groups, Invite, List, ListOptions, ListedFile, Member, Message, MessagePart, Page, PageOptions, Payment, Payments, Person, Product, ProductChange, Products, Prompt, RecordGroup, Share, Shown, Storage, Stored, StoredFile, TokenStorage, Transport, UploadOptions, User, Users, Where, newId };
