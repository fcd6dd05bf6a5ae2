import type { z } from 'zod';
import type { ErrorCode } from './error-codes.ts';

/** Who sends a request (contract section 1). */
export const callers = ['anonymous', 'user', 'owner', 'key', 'operator'] as const;
export type Caller = (typeof callers)[number];

/** Rate classes (contract section 9). */
export const limitClasses = ['read', 'write', 'ai', 'upload', 'email', 'payments'] as const;
export type LimitClass = (typeof limitClasses)[number];

export type ServiceName = 'auth' | 'records' | 'ai' | 'storage' | 'email' | 'payments' | 'projects';
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Credits are counted in thousandths; a priced call takes at least one whole credit. */
export const creditMillicredits = 1000;

/**
 * On a service's answer to a priced call: the milli-credits used, or `usageFollows`. For the gateway,
 * which removes it.
 */
export const usageHeader = 'x-backlot-usage';
/** The answer is streamed: what it used is known, and recorded for the ledger, only at its end. */
export const usageFollows = 'follows';

/** What a priced call costs at most; it is settled to what was used (contract section 9). */
export interface Price {
  /** The worst case is read from the body, so the gateway has to read it. */
  needsBody: boolean;
  /** @param input.body parsed JSON that nobody has validated yet */
  worstCaseMillicredits(input: {
    body: unknown;
    contentLength: number | undefined;
    /** A request header by its lower-case name. */
    header(name: string): string | undefined;
    /** The project's. */
    settings: { maxUploadBytes?: number };
  }): number;
  /**
   * When the caller goes, the service is told and ends its work, and records what was used until then.
   * Otherwise a priced call is heard to its end.
   */
  endsWithCaller?: true;
}

/**
 * One endpoint, described once: validation, types, OpenAPI, authentication, limits and routing all
 * read this object. `path` is relative to the plane's base: `/api/runtime/<project>` or `/api/platform`,
 * with parameters written as `:name`.
 */
export interface RouteDefinition {
  operationId: string;
  service: ServiceName;
  plane: 'runtime' | 'platform';
  method: Method;
  path: string;
  summary: string;
  /** Who may call; a caller outside the list gets 401 (anonymous) or 403. */
  callers: readonly Caller[];
  limit: LimitClass;
  params?: z.ZodObject;
  query?: z.ZodObject;
  body?: z.ZodType;
  response: z.ZodType;
  /** The body instead of JSON: a form with a file or bytes, streamed, or the fields of a page's form. */
  takes?: 'multipart' | 'bytes' | 'form';
  /**
   * What the answer may be beside JSON: server-sent events, or instead of it: a page for people, or
   * the bytes of a file, for which the caller may take all the time that they need.
   */
  answers?: 'json-or-events' | 'html' | 'file';
  /** 204 has no body. */
  status: 200 | 201 | 204;
  errors: readonly ErrorCode[];
  /** Free unless stated. */
  price?: Price;
  /** Largest accepted request body in bytes; 512 KB unless stated. */
  bodyLimitBytes?: number;
  /** Credentials are not looked at (JWKS, API description). */
  ignoresCredentials?: true;
  /** A credential that is no good is the service's to refuse: what is public opens all the same. */
  badCredentials?: 'reach-service';
  /** Allowed in the built-in project `platform`, which holds accounts only. */
  servesPlatformProject?: true;
}

export const defineRoute = <const R extends RouteDefinition>(route: R): R => route;

type Parsed<T> = T extends z.ZodType ? z.output<T> : undefined;
export type ParamsOf<R extends RouteDefinition> = Parsed<R['params']>;
export type QueryOf<R extends RouteDefinition> = Parsed<R['query']>;
export type BodyOf<R extends RouteDefinition> = Parsed<R['body']>;
export type ResponseOf<R extends RouteDefinition> = z.input<R['response']>;

export const KIB = 1024;
export const MIB = 1024 * KIB;
export const defaultBodyLimitBytes = 512 * KIB;
/** Contract section 2. */
export const recordBodyLimitBytes = 1.25 * MIB;
