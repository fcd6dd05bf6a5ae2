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
    /**
     * With the token of the project's owner: what this caller would get, by lists, records and files. Whatever
     * is no read is refused.
     */
    viewAs?: 'stranger' | `user:${string}` | `role:${string}`;
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
/** In the words that the project's owner has set. */
export interface WordedMail extends Omit<Partial<Mail>, 'subject' | 'html'> {
    template: string;
    /** What its fields are to say. */
    data?: Record<string, unknown>;
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
    db: <Name extends keyof Project & string>(name: Name) => Collection<Project[Name]>;
    /** What is said to whoever listens now, and who is there; the owner opens channels by a setting. */
    channel: <T = unknown>(name: string) => Channel<T>;
    groups: Groups;
    users: Users;
    ai: Ai;
    storage: Storage;
    email: {
        /** Stored, and delivered with retries. */
        send: (mail: Mail | WordedMail) => Promise<void>;
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
    /** With every call, so that none is the owner's own by mistake: what writes is refused. */
    viewAs?: string | undefined;
}
/** Is told of what a client does, once it has a live list. */
interface Watcher {
    /** @param answer as whoever calls gets it: what it says is read from a clone */
    sent(method: Method, path: string, options: CallOptions, answer: Promise<Response>): void;
    userChanged(): void;
}
interface Transport {
    watcher?: Watcher;
    readonly viewAs: string | undefined;
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
declare const pauseMsAfter: ({ retryAfterSeconds }: {
    retryAfterSeconds?: number | undefined;
}, tries: number) => number;
/** Somewhat longer, by chance, so that those who were refused together don't come back together. */
declare const wait: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
declare const unreachable: (cause?: unknown) => BacklotError;
/** @throws BacklotError unless the answer is a success */
declare const refuseFailure: (response: Response) => Promise<Response>;
declare const createTransport: ({ baseUrl, fetch, retries, authorization, viewAs, }: TransportOptions) => Transport;
/** What of the sent data does not fit the schema of its collection. */
interface Problem {
    /** Of a batch: `create[3]`. */
    operation?: string;
    /** Of the field: `items[3].price`. */
    path: string;
    /** The keyword of the schema. */
    rule: string;
    /** Stands behind the path: `must be at least 0`. */
    message: string;
}
/** Of proof_of_work_needed; the client solves it by itself. */
interface Challenge {
    parameters: {
        nonce: string;
        salt: string;
        cost: number;
        keyLength: number;
        keyPrefix: string;
    } & Record<string, unknown>;
    signature: string;
}
/** What an answer says of a failure; `status` is 0 where there was no answer. */
interface Failure {
    error?: string;
    code?: string;
    hint?: string;
    problems?: readonly Problem[];
    challenge?: Challenge;
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
    /** With the code `schema_mismatch`: all that does not fit, up to 20. */
    readonly problems: readonly Problem[];
    /** With the code `proof_of_work_needed`, where the client could not solve it. */
    readonly challenge: Challenge | undefined;
    readonly requestId: string | undefined;
    /** When the same call may be tried again. */
    readonly retryAfterSeconds: number | undefined;
    constructor(status: number, failure: Failure, retryAfterSeconds?: number, cause?: unknown);
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
/** Ways beside a password, and what belongs to them: they are loaded with the first call of them. */
declare const laterCalls = "resendVerification changeEmail confirmEmailChange providers ways signInWith openSignIn finishSignIn guest code showLink verifyCode signInWithPasskey addPasskey passkeys renamePasskey deletePasskey verifyFactor addTotp confirmTotp factors deleteFactor renewRecoveryCodes identities linkIdentity unlinkIdentity reauthenticate events sessions endSession endOtherSessions";
type Auth = ReturnType<typeof createAuth>;
/** @param devices keeps what a remembered device needs for no second factor */
declare const createAuth: (transport: Transport, storage: TokenStorage, devices: TokenStorage) => {
    providers: () => Promise<Provider[]>;
    ways: () => Promise<Ways>;
    signInWith: (provider: string, options?: TripOptions) => Promise<User>;
    openSignIn: ({ returnTo, merge }?: TripOptions) => Promise<never>;
    finishSignIn: () => Promise<User | null>;
    guest: () => Promise<User>;
    code: (email: string, more?: {
        invitation?: string;
    }) => Promise<void>;
    showLink: (token: string) => Promise<string>;
    verifyCode: (proof: ({
        email: string;
        code: string;
    } | {
        token: string;
    }) & {
        name?: string;
        invitation?: string;
    } & MergeOptions) => Promise<User>;
    resendVerification: () => Promise<void>;
    changeEmail: (change: {
        email: string;
        password: string;
    }) => Promise<void>;
    confirmEmailChange: (token: string, password?: string) => Promise<boolean>;
    signInWithPasskey: ({ merge }?: MergeOptions) => Promise<User>;
    addPasskey: (name?: string) => Promise<Passkey>;
    passkeys: () => Promise<Passkey[]>;
    renamePasskey: (id: string, name: string) => Promise<Passkey>;
    deletePasskey: (id: string) => Promise<void>;
    verifyFactor: (code: string, remember?: boolean) => Promise<User>;
    addTotp: () => Promise<{
        secret: string;
        uri: string;
    }>;
    confirmTotp: (code: string) => Promise<{
        recoveryCodes: string[];
    }>;
    factors: () => Promise<{
        items: Factor[];
        recoveryCodesLeft: number;
    }>;
    deleteFactor: (id: string, code: string) => Promise<void>;
    renewRecoveryCodes: (code: string) => Promise<{
        recoveryCodes: string[];
    }>;
    identities: () => Promise<LinkedIdentity[]>;
    linkIdentity: (provider: string, options?: TripOptions) => Promise<User>;
    unlinkIdentity: (id: string) => Promise<void>;
    reauthenticate: (proof?: Proof) => Promise<void>;
    sessions: () => Promise<OwnSession[]>;
    endSession: (id: string) => Promise<void>;
    endOtherSessions: () => Promise<void>;
    events: () => Promise<List<SignInEvent>>;
    /** The signed-in user; null without a token, or with one that is over. */
    me: () => Promise<User | null>;
    /** Creates an account and signs in. @param account `invitation`: the token of a mailed one, to whose group the user then belongs */
    signUp: (account: {
        email: string;
        password: string;
        name?: string;
        invitation?: string;
    }) => Promise<User>;
    /**
     * @param account `merge: true` gives it what a guest has who is signed in here
     * @throws BacklotError factor_required, then `verifyFactor` ends it
     */
    signIn(account: {
        email: string;
        password: string;
        merge?: boolean;
    }): Promise<User>;
    /** Ends the session everywhere. The token is forgotten even where the server can't be told. */
    signOut(): Promise<void>;
    updateMe: (changes: {
        name?: string | null;
        avatar?: string | null;
        profile?: Record<string, unknown>;
        publicProfile?: Record<string, unknown>;
    }) => Promise<User>;
    /** Erases the account. @throws BacklotError reauthentication_needed, as `reauthenticate` says */
    deleteMe(): Promise<void>;
    /** Ends all other sessions. */
    changePassword: (change: {
        currentPassword: string;
        newPassword: string;
    }) => Promise<void>;
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
/** `until`: null for good. */
interface Block {
    reason: string | null;
    until: string | null;
}
interface User {
    id: string;
    /** Null: a guest. */
    email: string | null;
    name: string | null;
    /** Id of a file. */
    avatar: string | null;
    /** What the app keeps of the user, up to 8 KB as JSON. */
    profile: Record<string, unknown>;
    /** What the user shows others beside name and picture. */
    publicProfile: Record<string, unknown>;
    role: string;
    emailVerified: boolean;
    isGuest: boolean;
    /** Why the user writes nothing, and until when; absent from who is not blocked. */
    blocked?: Block;
    createdAt: string;
    updatedAt: string;
}
interface Session {
    token: string;
    user: User;
}
type SignInAnswer = Session | {
    factorToken: string;
    factors: ('totp' | 'recovery-code' | 'passkey')[];
};
/** What ends it goes on with what the first factor was sent with. */
interface WaitingSignIn {
    factorToken: string;
    merge?: boolean | undefined;
}
interface AccountsKit {
    transport: Transport;
    /** @throws BacklotError factor_required */
    keep(answer: SignInAnswer, merge?: boolean): Promise<User>;
    /** Of the sign-in that waits for its second factor. @throws BacklotError */
    waiting(): WaitingSignIn | undefined;
    /** Of a device that is remembered. */
    rememberDevice(token: string): Promise<void>;
}
/** A password, or a code of the authenticator app or for recovery. */
type Proof = {
    password?: string;
} | {
    code?: string;
};
interface MergeOptions {
    /** What becomes of a guest who is signed in here: true gives what is theirs to the account, false leaves them alone. */
    merge?: boolean;
}
interface TripOptions extends MergeOptions {
    /** A page of the app; this one unless stated. */
    returnTo?: string;
}
declare const createAccounts: ({ transport, keep, waiting, rememberDevice }: AccountsKit) => {
    /** Who else signs users in here, for buttons. */
    providers: () => Promise<Provider[]>;
    /** For a form: what there is beside a password. */
    ways: () => Promise<Ways>;
    /**
     * Leads to a provider and, with a code, back to `returnTo`, where `finishSignIn` ends it; in a frame a
     * window opens instead, and the user is answered here.
     */
    signInWith: (provider: string, options?: TripOptions) => Promise<User>;
    /** Leads to the platform's own page to sign in, and back to `returnTo`, where `finishSignIn` ends it. */
    openSignIn: ({ returnTo, merge }?: TripOptions) => Promise<never>;
    /**
     * Ends what `signInWith`, `openSignIn` or `linkIdentity` has begun, when its page is opened anew; null where
     * nothing has been begun. @throws BacklotError sign_in_canceled where the user did not want to
     */
    finishSignIn: () => Promise<User | null>;
    /** An account without an address, which can become a whole one by any way to sign up. */
    guest: () => Promise<User>;
    /** Mails a code that signs in, or up; says the same whether the address has an account or not. */
    code: (email: string, more?: {
        invitation?: string;
    }) => Promise<void>;
    /** Which address the token of a mail's link signs in, in part, to ask before `verifyCode` does. */
    showLink: (token: string) => Promise<string>;
    /** Signs in, or up, with the code of a mail, or the token of its link. */
    verifyCode: (proof: ({
        email: string;
        code: string;
    } | {
        token: string;
    }) & {
        name?: string;
        invitation?: string;
    } & MergeOptions) => Promise<User>;
    /** Mails the link that confirms the address once more. @throws BacklotError conflict where it is confirmed */
    resendVerification: () => Promise<void>;
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
    signInWithPasskey: ({ merge }?: MergeOptions) => Promise<User>;
    addPasskey: (name?: string) => Promise<Passkey>;
    passkeys: () => Promise<Passkey[]>;
    renamePasskey: (id: string, name: string) => Promise<Passkey>;
    deletePasskey: (id: string) => Promise<void>;
    /** Ends a sign-in that has failed with the code `factor_required`. @param remember this device for 30 days */
    verifyFactor: (code: string, remember?: boolean) => Promise<User>;
    /** `uri` is for a QR code; the factor counts once `confirmTotp` was told a code of it. */
    addTotp: () => Promise<{
        secret: string;
        uri: string;
    }>;
    confirmTotp: (code: string) => Promise<{
        recoveryCodes: string[];
    }>;
    factors: () => Promise<{
        items: Factor[];
        recoveryCodesLeft: number;
    }>;
    deleteFactor: (id: string, code: string) => Promise<void>;
    /** Ten new ones, for a code of the app or one of the old, which end. */
    renewRecoveryCodes: (code: string) => Promise<{
        recoveryCodes: string[];
    }>;
    identities: () => Promise<LinkedIdentity[]>;
    /** As `signInWith`, for whoever is signed in: from then on the provider signs them in, too. */
    linkIdentity: (provider: string, options?: TripOptions) => Promise<User>;
    unlinkIdentity: (id: string) => Promise<void>;
    /**
     * Shows that the account is the caller's, for 10 minutes: other ways of signing in, their removal and `deleteMe`
     * ask for it where the sign-in was longer ago (`reauthentication_needed`). Without a proof it tells whether one is due.
     */
    reauthenticate: (proof?: Proof) => Promise<void>;
    /** Where the user is signed in, newest first. */
    sessions: () => Promise<OwnSession[]>;
    endSession: (id: string) => Promise<void>;
    /** Signs out everywhere but here. */
    endOtherSessions: () => Promise<void>;
    /** What happened to the own sign-in in the last 90 days, newest first. */
    events: () => Promise<List<SignInEvent>>;
};
type Accounts = ReturnType<typeof createAccounts>;
interface List<T> {
    items: T[];
    hasMore: boolean;
    nextCursor: string | null;
}
/** Who else signs users in. */
interface Provider {
    name: string;
    /** For the button: Google. */
    label: string;
}
/** What there is beside a password. */
interface Ways {
    providers: Provider[];
    /** Whether somebody without an invitation makes an account. */
    signUp: boolean;
    codes: boolean;
    guests: boolean;
    /** Whether they work on this page. */
    passkeys: boolean;
}
interface Passkey {
    id: string;
    name: string;
    /** Where it signs in. */
    host: string;
    createdAt: string;
    lastUsedAt: string | null;
}
interface Factor {
    id: string;
    type: 'totp';
    createdAt: string;
    lastUsedAt: string | null;
}
interface LinkedIdentity {
    id: string;
    provider: string;
    label: string;
    issuer: string;
    email: string | null;
    createdAt: string;
    lastUsedAt: string;
}
interface OwnSession {
    id: string;
    /** Browser and system, as they call themselves. */
    device: string | null;
    /** The address without its last part. */
    network: string | null;
    method: string | null;
    createdAt: string;
    lastUsedAt: string;
    expiresAt: string;
    isCurrent: boolean;
}
interface SignInEvent {
    id: string;
    kind: string;
    detail: string | null;
    device: string | null;
    network: string | null;
    times: number;
    createdAt: string;
    lastAt: string;
}
interface Group {
    id: string;
    name: string;
    /** What the signed-in user is in it: `owner` and `admin` manage it. */
    role: string | null;
    createdAt: string;
}
interface NamedUser {
    id: string;
    name: string | null;
    /** Id of a file. */
    avatar: string | null;
}
/** Whom others see: never an address. */
interface Person extends NamedUser {
    /** Set by `auth.updateMe({ publicProfile })`. */
    publicProfile: Record<string, unknown>;
}
interface Member extends NamedUser {
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
    get: (id: string) => Promise<Group>;
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
interface Moderated extends NamedUser {
    role: string;
    /** Absent from who is not blocked. */
    blocked?: Block;
}
interface SeenUser extends Moderated {
    createdAt: string;
    email?: string;
    emailVerified?: boolean;
}
declare const createUsers: ({ call }: Transport) => {
    /** Those of up to 100 users with whom the signed-in one shares a group. */
    find: (ids: readonly string[]) => Promise<Person[]>;
    /** All, newest first. For the project's owner, keys, and roles that may see users; addresses for the owner and roles that may see them. */
    list: (options?: PageOptions & {
        role?: string;
    }) => Promise<List<SeenUser>>;
    /** With the token of the project's owner. */
    setRole: (id: string, role: string) => Promise<Moderated>;
    /**
     * From now on the user reads what anyone reads, and writes nothing. For the project's owner, keys, and roles that may.
     * @param block `until`: a time in ISO 8601, without it for good
     */
    block: (id: string, block?: {
        reason?: string;
        until?: string;
    }) => Promise<Moderated>;
    unblock: (id: string) => Promise<Moderated>;
};
/** `ifMatch`: the version that a change has to find, from `getVersion`; else it fails with `precondition_failed`. */
interface ChangeOptions {
    ifMatch?: string;
}
type Collection<T> = ReturnType<typeof createCollection<T>>;
/** @param name of the collection; the first record makes it */
declare const createCollection: <T>(transport: Transport, name: string) => {
    list: (options?: ListOptions<T>) => Promise<Page<T>>;
    /**
     * A list that stays true: `onItems` is told it at first, and anew after each change by anyone. What this client
     * writes shows at once, and goes away again where the server refuses it. Call what it returns to end that.
     */
    live: (options: LiveOptions<T>, onItems: OnItems<T>) => () => void;
    /** Each change of what fits, as it happens. Call what it returns to end that. */
    subscribe: (options: SubscribeOptions<T>, onChange: OnChange<T>) => () => void;
    /** All that match, page by page, as they are asked for. */
    all(options?: Omit<ListOptions<T>, 'cursor' | 'offset'>): AsyncGenerator<Stored<T>>;
    /** `approximate` where counting all would take too long. */
    count: (selection?: Selection<T>) => Promise<{
        count: number;
        approximate?: true;
        hint?: string;
    }>;
    /** The largest groups first unless `sort` says otherwise; without `group` all records are one. */
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
    /** Tells who moderates the app of a record; another report by the same user is replaced. */
    report(id: string, reason: string): Promise<void>;
    /** What users have reported, newest first. For the project's owner, keys, and roles that may block users. */
    reports: (options?: {
        limit?: number;
        cursor?: string;
    }) => Promise<{
        items: Report[];
        hasMore: boolean;
        nextCursor: string | null;
    }>;
    /** Takes the reports of a record off the list. */
    dismissReports(id: string): Promise<void>;
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
interface RecordGroup {
    /** The value of the field, of several an array; null where it is missing. Of a time the first day: `2026-01-31`. */
    group?: unknown;
    count: number;
    sum?: Measured;
    avg?: Measured;
    min?: Measured;
    max?: Measured;
    distinct?: Record<string, number>;
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
interface Report {
    recordId: string;
    /** Whose record it is. */
    ownerId: string | null;
    /** Who reports it. */
    userId: string;
    reason: string;
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
    /** Fields whose ids become the records that they name: `authorId`, `author:people`; or users: `ownerId:users`. */
    include?: string;
}
interface Watching {
    /** Told of what keeps a list from being true; a page without it finds that in the console. */
    onError?: (error: Error) => void;
}
/** As of `list`; a live list has no pages: `limit` says how much of its beginning is kept. */
interface LiveOptions<T> extends Omit<ListOptions<T>, 'cursor' | 'offset' | 'total' | 'signal'>, Watching {
}
interface LiveState {
    /** Ids of the records whose change is on its way: they are shown as if it was done already. */
    pending: ReadonlySet<string>;
    /** Whether there are more records than `limit`. */
    hasMore: boolean;
}
type OnItems<T> = (items: Stored<T>[], state: LiveState) => void;
interface SubscribeOptions<T> extends Omit<Selection<T>, 'search' | 'signal'>, Watching {
}
interface ChangeOf<Type extends string> {
    type: Type;
    id: string;
    changedAt: string;
}
/**
 * `leave`: the record is there, and does not fit `where`, or may not be read by the caller, any more.
 * `reset`: later changes will be told, and earlier ones may have been missed: read anew. It comes first of all too.
 */
type Change<T> = (ChangeOf<'create' | 'update'> & {
    record: Stored<T>;
}) | ChangeOf<'delete' | 'leave'> | {
    type: 'reset';
};
type OnChange<T> = (change: Change<T>) => void;
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
        outcome: 'unpaid' | 'pending' | 'done' | 'not_found' | 'items_differ' | 'already_paid' | 'not_unique' | 'schema_mismatch' | 'too_large';
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
    /** The record whose readers may open it. */
    recordId: string | null;
    createdAt: string;
}
interface UploadOptions {
    /** Default: the file's own. */
    name?: string;
    /** Default: public, or private with `groupId` or `recordId`. */
    visibility?: 'public' | 'private';
    /** A group that the signed-in user is in: the file belongs to it, and opens to its members. */
    groupId?: string;
    /** A record that the caller may change, with its collection: the file opens to those who may read it. */
    recordId?: string;
    collection?: string;
    /** Told how many bytes have gone: in browsers as they go, elsewhere at the end. */
    onProgress?: (sent: number, total: number) => void;
    signal?: AbortSignal;
}
type Storage = ReturnType<typeof createStorage>;
declare const createStorage: ({ call, send, url, authorization, viewAs }: Transport) => {
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
    /**
     * The content of a file that the caller may see, for `img.src = URL.createObjectURL(await storage.open(id))`:
     * an address by itself opens public files alone.
     * @param image makes a smaller one of it
     */
    open: (id: string, image?: {
        width?: number;
        height?: number;
        fit?: string;
        format?: string;
    }) => Promise<Blob>;
    /** Opens an own file to those who may read the record; null to nobody else again. */
    attach: (id: string, record: {
        collection: string;
        recordId: string;
    } | {
        recordId: null;
    }) => Promise<{
        id: string;
        recordId: string | null;
        visibility: 'public' | 'private';
    }>;
    delete(id: string): Promise<void>;
};
interface ChannelMessage<T> {
    channel: string;
    /** `userId` is null for visitors, the owner and keys. */
    from: {
        caller: 'anonymous' | 'user' | 'owner' | 'key' | 'operator';
        userId: string | null;
    };
    data: T;
    /** When the server has taken it. */
    at: string;
}
/** Who is there: a user once, however many tabs and devices they have. */
interface ChannelMember<T> {
    /** Of one stream, as long as it is open. */
    id: string;
    userId: string | null;
    data: T;
    since: string;
}
interface Channel<T = unknown> {
    /** Says something to whoever listens now; nothing is kept, and it may be lost. */
    send(data: T): Promise<void>;
    /** @returns what ends it */
    on(listener: (message: ChannelMessage<T>) => void, onError?: (error: Error) => void): () => void;
    /**
     * Says of the caller that they are there (null: nothing), until it is ended, and tells who is, at once and after each
     * change. Of several calls for a channel the last holds that says something.
     * @returns what ends it
     */
    presence<P extends object>(data: P | null, onMembers?: (members: ChannelMember<P>[]) => void, onError?: (error: Error) => void): () => void;
}
/**
 * A new UUIDv7, under which this client may make a record: `db('todos').replace(newId(), data, { upsert:
 * true })`. Later ones are greater, within a millisecond too.
 */
declare const newId: () => string;
export { AggregateOptions, Ai, Auth, BacklotError, Batch, Change, Changes, Channel, ChannelMember, ChannelMessage, Checkout, Collection, Factor, Generated, Group, Groups, Invite, LinkedIdentity, List, ListOptions, ListedFile, LiveOptions, LiveState, Member, Message, MessagePart, OnChange, OnItems, Page, PageOptions, Passkey, Payment, Payments, Person, Problem, Product, ProductChange, Products, Prompt, Provider, RecordGroup, Share, Shown, SignInEvent, Storage, Stored, StoredFile, SubscribeOptions, TokenStorage, Transport, TripOptions, UploadOptions, User, Users, Ways, Where, newId };
