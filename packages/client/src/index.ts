/**
 * The client of one Backlot project. It needs `fetch` and nothing else, so that it runs in browsers, Node,
 * Deno, Bun and React Native.
 */
import { type Ai, createAi } from './calls/ai.ts';
import {
  type Auth,
  createAuth,
  createTokenKeeper,
  createTokenStorage,
  type TokenStorage,
} from './calls/auth.ts';
import { createChannel } from './calls/channel.ts';
import { type Collection, createCollection } from './calls/db.ts';
import { createGroups, createUsers, type Groups, type Users } from './calls/groups.ts';
import { createPayments, createProducts, type Payments, type Products } from './calls/payments.ts';
import { createStorage, type Storage } from './calls/storage.ts';
import type { Channel } from './channel-types.ts';
import { guided } from './guide.ts';
import { createTransport } from './transport.ts';

export type { TripOptions } from './accounts/accounts.ts';
export type {
  Factor,
  LinkedIdentity,
  Passkey,
  Provider,
  SignInEvent,
  Ways,
} from './accounts/answers.ts';
export type { Ai, Generated, Message, MessagePart, Prompt } from './calls/ai.ts';
export type { Auth, TokenStorage, User } from './calls/auth.ts';
export type { Collection } from './calls/db.ts';
export type {
  Group,
  Groups,
  Invite,
  List,
  Member,
  PageOptions,
  Person,
  Users,
} from './calls/groups.ts';
export type {
  Change,
  LiveOptions,
  LiveState,
  OnChange,
  OnItems,
  SubscribeOptions,
} from './calls/live-types.ts';
export type {
  Checkout,
  Payment,
  Payments,
  Product,
  ProductChange,
  Products,
} from './calls/payments.ts';
export type {
  AggregateOptions,
  Batch,
  Changes,
  ListOptions,
  Page,
  RecordGroup,
  Share,
  Shown,
  Stored,
  Where,
} from './calls/record-types.ts';
export type { ListedFile, Storage, StoredFile, UploadOptions } from './calls/storage.ts';
export type { Channel, ChannelMember, ChannelMessage } from './channel-types.ts';
export { BacklotError, type Problem } from './error.ts';
export { newId } from './new-id.ts';
export type { Transport } from './transport.ts';

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
export const createClient = <Project extends { [K in keyof Project]: object } = Collections>(
  baseUrl: string,
  options: ClientOptions = {},
) => {
  if (typeof baseUrl !== 'string' || !baseUrl.includes('/'))
    throw new TypeError('createClient takes "<host>/api/runtime/<project id>", then its options.');
  const base = baseUrl.replace(/\/+$/, '');
  const {
    key,
    viewAs,
    retries = 2,
    storage = createTokenStorage(`backlot ${base}`),
    fetch: send = (...given: Parameters<typeof fetch>) => fetch(...given),
    ...unknown
  } = options;
  const [name] = Object.keys(unknown);
  if (name !== undefined || typeof options !== 'object')
    throw new TypeError(
      `Options are an object of key (secret, for servers), storage, fetch, viewAs and retries, not "${name}".`,
    );
  const shared = { baseUrl: base, fetch: send, retries };
  const devices = createTokenStorage(`backlot device ${base}`);
  const keeper = createTokenKeeper(storage, async (token) => {
    const transport = createTransport({ ...shared, authorization: async () => `Bearer ${token}` });
    return (await transport.call<{ token: string }>('POST', '/auth/refresh')).token;
  });
  const transport = createTransport({
    ...shared,
    viewAs,
    async authorization() {
      const credential = key ?? (await keeper.current());
      return credential === null ? undefined : `Bearer ${credential}`;
    },
  });
  const { call } = transport;

  // biome-ignore lint/suspicious/noExplicitAny: each is of the type of its name
  const collections = new Map<string, Collection<any>>();
  /** The records of one collection: the same object for the same name. */
  const db = <Name extends keyof Project & string>(name: Name): Collection<Project[Name]> => {
    const known =
      collections.get(name) ?? guided(`db('${name}')`, createCollection(transport, name));
    collections.set(name, known);
    return known;
  };
  const email = {
    /** Stored, and delivered with retries. */
    send: async (mail: Mail | WordedMail): Promise<void> =>
      void (await call('POST', '/email/send', { body: mail })),
  };
  return guided('client', {
    /** For what stands beside the client, such as uploads in parts. */
    transport,
    auth: guided('auth', createAuth(transport, storage, devices)) as Auth,
    db: guided('db', db),
    /** What is said to whoever listens now, and who is there; the owner opens channels by a setting. */
    channel: <T = unknown>(name: string) => createChannel(transport, name) as Channel<T>,
    groups: guided('groups', createGroups(transport)) as Groups,
    users: guided('users', createUsers(transport)) as Users,
    ai: guided('ai', createAi(transport)) as Ai,
    storage: guided('storage', createStorage(transport)) as Storage,
    email: guided('email', email),
    payments: guided('payments', createPayments(transport)) as Payments,
    /** What the project sells, at prices of its own. */
    products: guided('products', createProducts(transport)) as Products,
  });
};

/** What `createClient<Project>` makes. */
export type Client<Project extends { [K in keyof Project]: object } = Collections> = ReturnType<
  typeof createClient<Project>
>;
