import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  ApiError,
  type RouteBody,
  type RouteDefinition,
  type RouteParams,
  type RouteQuery,
} from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import type { z } from 'zod';
import { roundedNumberRefusal } from '../body/exact-numbers.ts';
import { describeObject, issueSentence, issueText } from '../input/issue-text.ts';
import { checkUnknownInput } from '../input/unknown-input.ts';

/** What a handler gets: validated input and a verified identity, never `req` or `res`. */
export interface Call<R extends RouteDefinition> {
  params: RouteParams<R>;
  query: RouteQuery<R>;
  body: RouteBody<R>;
  /** The body as it came: validation copies, and drops a `__proto__` key without a word. */
  rawBody: { value: unknown; text: string };
  identity: Identity;
  /** A request header by its lower-case name. */
  header(name: string): string | undefined;
  /** Aborted when the caller has gone before the answer was finished. */
  readonly signal: AbortSignal;
}

/** A body that is no JSON. */
export interface Received {
  /** Valid already: it becomes `body`. */
  value: unknown;
  /** What stood beside a form's file. */
  fields?: Record<string, unknown> | undefined;
  /** Stands for the body where an Idempotency-Key compares two. */
  text: string;
  /** Called once the answer is on its way, or the call has failed. */
  release?(): Promise<void>;
}

/** A request whose route has been found. */
export interface RouteRequest extends IncomingMessage {
  method: string;
  url: string;
  /** Of the path, decoded. */
  params: Record<string, string>;
  query: Record<string, string | string[] | undefined>;
}

/** Of an address without a query. */
export const noQuery: RouteRequest['query'] = Object.freeze({});

const wholeInput = {
  invalid_path: 'The path',
  invalid_query: 'The query',
  invalid_body: 'The body',
} as const;

/** @throws ApiError of this code that names the first wrong field */
export const validate = (
  schema: z.ZodType | undefined,
  value: unknown,
  code: keyof typeof wholeInput,
) => {
  if (!schema) return undefined;
  const result = schema.safeParse(value, { error: issueText });
  if (result.success) return result.data;
  if (value === undefined) throw new ApiError(code, `Send a JSON body: ${describeObject(schema)}.`);
  const [issue = { path: [], message: 'is not valid' }] = result.error.issues;
  throw new ApiError(code, issueSentence(issue, wholeInput[code]));
};

/** Aborted when the caller has gone. */
export const callerSignal = (res: ServerResponse): AbortSignal => {
  const gone = new AbortController();
  const onClose = () => {
    if (!res.writableFinished) gone.abort();
  };
  if (res.closed) onClose();
  else res.once('close', onClose);
  return gone.signal;
};

type CallInput<R extends RouteDefinition> = Pick<Call<R>, 'params' | 'query' | 'body' | 'rawBody'>;

/**
 * A class, because V8 makes a hidden class for each object literal with a getter, which is old from birth
 * and keeps the getter's closure, the request and the response until the next full collection.
 */
class ReceivedCall<R extends RouteDefinition> implements Call<R> {
  readonly params: RouteParams<R>;
  readonly query: RouteQuery<R>;
  readonly body: RouteBody<R>;
  readonly rawBody: Call<R>['rawBody'];
  readonly identity: Identity;
  readonly #req: RouteRequest;
  readonly #res: ServerResponse;
  #signal: AbortSignal | undefined;

  constructor(input: CallInput<R>, identity: Identity, req: RouteRequest, res: ServerResponse) {
    this.params = input.params;
    this.query = input.query;
    this.body = input.body;
    this.rawBody = input.rawBody;
    this.identity = identity;
    this.#req = req;
    this.#res = res;
  }

  readonly header = (name: string): string | undefined => {
    const value = this.#req.headers[name];
    return Array.isArray(value) ? value[0] : value;
  };

  get signal(): AbortSignal {
    this.#signal ??= callerSignal(this.#res);
    return this.#signal;
  }
}

/** What an address without a query means to each route. */
const defaults = new WeakMap<RouteDefinition, unknown>();

const readQuery = (definition: RouteDefinition, query: RouteRequest['query']): unknown => {
  const read = () => validate(definition.query, query, 'invalid_query');
  if (query !== noQuery || !definition.query) return read();
  const known = defaults.get(definition) ?? Object.freeze(read());
  defaults.set(definition, known);
  return known;
};

/** @throws ApiError that names what of the call is not as its route says */
export const readCall = <R extends RouteDefinition>(
  definition: R,
  identity: Identity,
  req: RouteRequest,
  res: ServerResponse,
  rawBody: Call<R>['rawBody'],
  received: Received | undefined,
): Call<R> => {
  const { query } = req;
  const body = received ? received.fields : rawBody.value;
  checkUnknownInput(definition, { params: req.params, query, body }, res);
  const input = {
    params: validate(definition.params, req.params, 'invalid_path'),
    query: readQuery(definition, query),
    body: received ? rawBody.value : validate(definition.body, rawBody.value, 'invalid_body'),
    rawBody,
  } as CallInput<R>;
  const isJson = !received && definition.unknownBody !== 'ignored';
  const refusal = isJson ? roundedNumberRefusal(definition, rawBody.text) : undefined;
  if (refusal) throw refusal;
  return new ReceivedCall(input, identity, req, res);
};
