import type { z } from 'zod';
import type { ErrorCode } from './error-codes.ts';
import type { Price } from './prices/prices.ts';
import type { MemberRole } from './rights/member-roles.ts';
import type { OperatorScope } from './rights/operator-scopes.ts';
import type { Capability } from './rights/suspensions.ts';
import type { ServiceName } from './services.ts';

/** Who sends a request (docs/api.md, "Words"). */
export const callers = ['anonymous', 'user', 'owner', 'key', 'operator'] as const;
export type Caller = (typeof callers)[number];

/** Rate classes (docs/api.md, "Limits and credits"). */
export const limitClasses = [
  'read',
  'write',
  'ai',
  'upload',
  'email',
  'payments',
  'messages',
] as const;
export type LimitClass = (typeof limitClasses)[number];

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * On a service's answer to a priced call: the milli-credits used, or `usageFollows`. For the gateway,
 * which removes it.
 */
export const usageHeader = 'x-backlot-usage';
/** The answer is streamed: what it used is known, and recorded for the ledger, only at its end. */
export const usageFollows = 'follows';

/** On a failing answer: the names of its body's fields, for the log of calls. The gateway removes it. */
export const failureHeader = 'x-backlot-failure';

/**
 * On an answer of a service: what the call has taken until its head was written, as microseconds of statements and of
 * the service's thread, `1250 310`. For the gateway, which removes it.
 */
export const workHeader = 'x-backlot-work';

/** On an answer of a route that says `tellsPlan`: how it was found. For the gateway's log; it removes it. */
export const planHeader = 'x-backlot-plan';

/** What becomes of a name that a route does not know. */
export type UnknownNames = 'refused' | 'hinted' | 'ignored';

/**
 * One endpoint, described once: validation, types, OpenAPI, authentication, limits and routing all
 * read this object. `path` is relative to the plane's base: `/api/runtime/<project>` or `/api/platform`,
 * with parameters written as `:name`.
 */
export interface RouteDefinition {
  operationId: string;
  service: ServiceName;
  /** The gateway answers itself; the service is whose part of the API it is in. */
  answeredBy?: 'gateway';
  plane: 'runtime' | 'platform';
  method: Method;
  path: string;
  summary: string;
  /** Who may call; a caller outside the list gets 401 (anonymous) or 403. Keys: see `callsOfScopes` too. */
  callers: readonly Caller[];
  /** The least that an operator's token has to have; a GET takes `read`, others `admin` unless stated. */
  operatorScope?: OperatorScope;
  /** The least role of an `owner` in the project; `neededRole` says which it is unless stated. */
  memberRole?: MemberRole;
  limit: LimitClass;
  /**
   * The call counts as one for each started `itemsPerCall` of the items in the lists of its body, and
   * as `maxCalls` where the gateway can't read it. One call unless stated.
   */
  weight?: { itemsPerCall: number; maxCalls: number };
  params?: z.ZodObject;
  query?: z.ZodObject;
  body?: z.ZodType;
  /**
   * Query parameters that `query` does not name (`_`, a cache buster, always passes): refused unless
   * stated. `hinted`: the call goes on, and the header Backlot-Hint of its answer names them.
   */
  unknownQuery?: UnknownNames;
  /** The same for keys of a JSON body, at any depth. */
  unknownBody?: UnknownNames;
  /**
   * Names that change what a call does, with the way to do it in a sentence of ASCII: refused also where
   * other unknown names pass, in every spelling (`send_at` is `sendAt`), in the query and in the body.
   */
  refuses?: Readonly<Record<string, string>>;
  /** What to say of names that belong elsewhere, in a sentence of ASCII. */
  elsewhere?: Readonly<Record<string, string>>;
  response: z.ZodType;
  /** The body instead of JSON: a form with a file or bytes, streamed, or the fields of a page's form. */
  takes?: 'multipart' | 'bytes' | 'form';
  /** Media types of a body of bytes. */
  bodyTypes?: readonly string[];
  /**
   * What the answer may be beside JSON: server-sent events, or instead of it: events without an end, a page for
   * people, or the bytes of a file, for which the caller may take all the time that they need.
   */
  answers?: 'json-or-events' | 'events' | 'html' | 'file';
  /** The body may take all the time that it needs too, while it comes. */
  lastsWhileBodyComes?: true;
  /** 204 has no body. */
  status: 200 | 201 | 204;
  /** Another one that a call which was done may answer with, and when. */
  otherStatus?: { status: 201; when: string };
  errors: readonly ErrorCode[];
  /** Free unless stated. */
  price?: Price;
  /** Largest accepted request body in bytes; 512 KB unless stated. */
  bodyLimitBytes?: number;
  /** Credentials are not looked at (JWKS, API description). */
  ignoresCredentials?: true;
  /** A credential that is no good is the service's to refuse: what is public opens all the same. */
  badCredentials?: 'reach-service';
  /** The one cookie that reaches the service; no other does, and on other routes none. */
  cookie?: string;
  /** Its success changes which groups the caller is in: the gateway asks for them anew. */
  changesCaller?: true;
  /**
   * The capability without which it is refused where the operator has suspended that; what follows from plane, service and
   * limit unless stated (`capabilityFor`). `every`: refused while anything is suspended.
   */
  capability?: Capability | 'every';
  /** It is of the control plane and no GET, and changes nothing all the same: the audit log has no line of it. */
  changesNothing?: true;
  /** Its answer tells the gateway how it was found, which stands in the log's line of the call. */
  tellsPlan?: true;
  /**
   * Callers whom other routes refuse: users who are blocked, have to verify their address first, or have
   * signed in with one factor where their role takes two.
   */
  opensTo?: readonly ('blocked' | 'unverified' | 'first-factor')[];
  /** Allowed in the built-in project `platform`, which holds accounts only. */
  servesPlatformProject?: true;
}

/** Routes that clients of other backends call as well: they may send more than ours know. */
export const forgiving = { unknownQuery: 'hinted', unknownBody: 'hinted' } as const;
/** Routes that something calls which nobody can teach: a browser's address, a provider's webhook. */
export const indifferent = { unknownQuery: 'ignored', unknownBody: 'ignored' } as const;

export const defineRoute = <const R extends RouteDefinition>(route: R): R => route;

type Parsed<T> = T extends z.ZodType ? z.output<T> : undefined;
export type RouteParams<R extends RouteDefinition> = Parsed<R['params']>;
export type RouteQuery<R extends RouteDefinition> = Parsed<R['query']>;
export type RouteBody<R extends RouteDefinition> = Parsed<R['body']>;
export type RouteResponse<R extends RouteDefinition> = z.input<R['response']>;

export const KIB = 1024;
export const MIB = 1024 * KIB;
export const defaultBodyLimitBytes = 512 * KIB;
/** docs/api.md, "Every response". */
export const recordBodyLimitBytes = 1.25 * MIB;
/** Of the data of one record, as JSON. */
export const maxRecordBytes = MIB;
