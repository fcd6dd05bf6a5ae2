import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextLoop } from 'node:timers/promises';
import {
  ApiError,
  type RouteBody,
  type RouteDefinition,
  type RouteParams,
  type RouteQuery,
  type RouteResponse,
  usageHeader,
} from '@backlot/contract';
import type { Identity, IdentityVerifier } from '@backlot/identity';
import type { z } from 'zod';
import { type EventReply, sendEvents } from './answer/event-stream.ts';
import { LargeJson, sendParts } from './answer/json-parts.ts';
import { roundedNumberRefusal } from './body/exact-numbers.ts';
import { freeChunk } from './body/free-chunk.ts';
import { parseJson, readBody } from './body/json-body.ts';
import { checkCaller, checkFields, checkProject, identify } from './caller.ts';
import type { FailureLog } from './failure.ts';
import {
  type Answer,
  type Finish,
  type IdempotencyStore,
  type Keep,
  type KeptAnswer,
  runIdempotently,
} from './idempotent.ts';
import { describeObject, issueSentence, issueText } from './input/issue-text.ts';
import { addHint, checkUnknownInput } from './input/unknown-input.ts';

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

/** JSON that somebody else (PostgreSQL) has already written, with what stands before and behind it. */
export class JsonText {
  readonly pieces: readonly string[];
  constructor(...pieces: string[]) {
    this.pieces = pieces;
  }
}

export interface Reply<R extends RouteDefinition> {
  /** A large one is sent in parts, at the caller's pace; it goes with no Idempotency-Key. */
  body: RouteResponse<R> | JsonText | LargeJson;
  headers?: Record<string, string>;
  /** Instead of the route's `status`: one of its `otherStatus`. */
  status?: NonNullable<R['otherStatus']>['status'];
  /** What a priced call used; a replay of its answer uses nothing. */
  usedMillicredits?: number;
  /** The last writes, stored together with the answer where an Idempotency-Key keeps it. */
  commit?: () => Promise<unknown>;
}

/** Last writes that decide the answer; stored together with it, as those of `commit` are. */
export interface LastWrites<R extends RouteDefinition> {
  transact: () => Promise<Reply<R>>;
}

/** Makes a reply ready to be stored by the statement that does the work. */
export type KeepReply<R extends RouteDefinition> = (reply: Reply<R>) => KeptAnswer;

/** `keep` comes with an Idempotency-Key where the route says `storesAnswer`. */
export type Handler<R extends RouteDefinition> = (
  call: Call<R>,
  keep?: KeepReply<R>,
) => Promise<
  Reply<R> | LastWrites<R> | (R extends { answers: 'json-or-events' } ? EventReply : never)
>;

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

export type Receive = (req: RouteRequest, identity: Identity) => Promise<Received>;

export interface RouteOptions {
  /** The handler waits for others: no transaction is held meanwhile, its writes belong in `commit` or `transact`. */
  isSlow?: boolean;
  /** The handler writes with one statement, which stores the answer too where it gets `keep`. */
  storesAnswer?: boolean;
  /** Reads the body instead of what reads JSON. */
  receive?: Receive;
  /** Runs the work of a call once it is the caller's turn, before any transaction begins. */
  inTurn?: InTurn<'header'>;
  /** Where the handler has waited for a lock, `inTurn` runs it again: what it does beside its writes it may do twice. */
  retriedWhileLocked?: boolean;
  /** A body of more bytes is read in turn. Default 64 KiB. */
  largeBodyBytes?: number;
  /** Such turns are as short as the work on a large body, which keeps its own meanwhile. */
  hasShortTurns?: boolean;
}

export type InTurn<More extends keyof Call<RouteDefinition> = never> = (
  caller: Pick<Call<RouteDefinition>, 'identity' | 'signal' | More>,
  work: () => Promise<void>,
) => Promise<void>;

export interface RouteContext {
  identities: IdentityVerifier;
  idempotency: IdempotencyStore;
  /** Validates what handlers answer against the contract; on in tests. */
  checkResponses: boolean;
  log: FailureLog;
  /** Runs the work on a large body once it is its caller's turn. Default at once. */
  inTurnForLargeBody?: InTurn | undefined;
}

/** Work on larger bodies takes turns: it keeps the thread that all calls share busy. */
const usualLargeBodyBytes = 64 * 1024;

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

/** Answers a call; what it throws is answered for it. */
export type RouteListener = (req: RouteRequest, res: ServerResponse) => Promise<void>;

export interface MountedRoute {
  definition: RouteDefinition;
  middleware(context: RouteContext): RouteListener;
}

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

interface SentAnswer extends Omit<Answer, 'body'> {
  /**
   * Joined they would be one long string, which V8 copies before it is measured and once more behind the
   * head.
   */
  pieces: readonly string[];
}

const joinPieces = ({ pieces, ...answer }: SentAnswer): Answer => ({
  ...answer,
  body: pieces.join(''),
});

const send = (res: ServerResponse, { status, headers, pieces }: SentAnswer) => {
  const contentHeaders = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0),
  };
  res.writeHead(status, { ...(status !== 204 && contentHeaders), ...headers });
  res.cork();
  for (const piece of pieces.slice(0, -1)) res.write(piece);
  res.end(pieces.at(-1));
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

const readCall = <R extends RouteDefinition>(
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

/**
 * Binds a handler to its definition. The order is the contract's: identity, anonymous callers, body
 * size and type, fields, then whether this caller may.
 */
export const route = <const R extends RouteDefinition>(
  definition: R,
  handler: Handler<R>,
  options: RouteOptions = {},
): MountedRoute => {
  const { isSlow = false, storesAnswer = false, receive, inTurn, hasShortTurns = false } = options;
  const { largeBodyBytes = usualLargeBodyBytes, retriedWhileLocked = false } = options;
  const kind = isSlow ? 'slow' : storesAnswer ? 'one statement' : 'usual';
  /** It waits for others than its own process and database: nobody's turn is held meanwhile. */
  const waits = isSlow || (inTurn !== undefined && !hasShortTurns);

  const respond = async (
    context: RouteContext,
    call: Call<R>,
    req: RouteRequest,
    res: ServerResponse,
  ) => {
    const { identity } = call;
    let usage: Record<string, string> = {};
    const toSentAnswer = ({
      body,
      status,
      headers = {},
      usedMillicredits,
    }: Reply<R>): SentAnswer => {
      if (usedMillicredits !== undefined) usage = { [usageHeader]: String(usedMillicredits) };
      if (body instanceof LargeJson) throw new TypeError('A large answer can not be kept.');
      const pieces = body instanceof JsonText ? body.pieces : [JSON.stringify(body) ?? ''];
      if (context.checkResponses) {
        const text = pieces.join('');
        definition.response.parse(text === '' ? undefined : JSON.parse(text));
      }
      return { status: status ?? definition.status, headers, pieces };
    };
    const finish = async (reply: Reply<R> | LastWrites<R>): Promise<SentAnswer> => {
      const last = 'transact' in reply ? await reply.transact() : reply;
      const answer = toSentAnswer(last);
      await last.commit?.();
      return answer;
    };
    // Usage is not part of the answer: it isn't kept for a replay, which does no work.
    const answerWith = (answer: SentAnswer) =>
      send(res, { ...answer, headers: { ...addHint(res, answer.headers), ...usage } });

    const key = definition.method === 'POST' ? call.header('idempotency-key') : undefined;
    const runOnce = async () => {
      const reply = await handler(call);
      if ('events' in reply) return sendEvents(res, reply, call, context.log);
      if ('body' in reply && reply.body instanceof LargeJson) {
        return sendParts(
          res,
          definition.status,
          addHint(res, reply.headers ?? {}),
          reply.body.parts,
        );
      }
      return answerWith(await finish(reply));
    };
    const work = async (keep?: Keep): Promise<Finish> => {
      const reply = await handler(call, keep && ((reply) => keep(joinPieces(toSentAnswer(reply)))));
      if ('events' in reply)
        throw new ApiError('invalid_header', 'A stream takes no Idempotency-Key.');
      return async () => joinPieces(await finish(reply));
    };
    const runKeyed = async (key: string) => {
      const { path, requestId } = { path: req.url, requestId: call.header('x-request-id') ?? '' };
      const keyedCall = { definition, identity, key, path, text: call.rawBody.text, requestId };
      const { body, ...kept } = await runIdempotently(context.idempotency, keyedCall, work, kind);
      answerWith({ ...kept, pieces: [body] });
    };
    let runs = 0;
    const run = async () => {
      runs += 1;
      if (runs > 1 && !retriedWhileLocked)
        throw new Error(`${definition.operationId} runs twice: its options say nothing of that.`);
      await (key === undefined ? runOnce() : runKeyed(key));
    };
    await (inTurn ? inTurn(call, run) : run());
  };

  const answer = async (
    context: RouteContext,
    identity: Identity,
    req: RouteRequest,
    res: ServerResponse,
    received?: Received,
  ): Promise<void> => {
    const bytes = received ? undefined : await readBody(req, definition);
    const read = () => {
      const call = readCall(definition, identity, req, res, received ?? parseJson(bytes), received);
      checkCaller(definition, identity);
      checkProject(definition, identity, req.params);
      checkFields(definition, identity, call.body);
      return call;
    };
    const { inTurnForLargeBody } = context;
    if (!inTurnForLargeBody || !bytes || bytes.byteLength <= largeBodyBytes)
      return respond(context, read(), req, res);
    // What has waited is old to V8 and keeps what it holds until the next full collection: it may not hold the body.
    let rest: (() => Promise<void>) | undefined;
    const caller = { identity, signal: callerSignal(res) };
    const turn: Promise<void> = inTurnForLargeBody(caller, async () => {
      const call = read();
      freeChunk(bytes);
      if (!waits) return respond(context, call, req, res);
      rest = () => respond(context, call, req, res);
      // The turn lasts until what else has come meanwhile was served.
      await nextLoop();
    });
    await turn;
    await rest?.();
  };

  return {
    definition,
    middleware: (context) => async (req, res) => {
      const identity = identify(req, definition, context);
      if (identity.caller === 'anonymous') checkCaller(definition, identity);
      const receiving: Promise<Received> | undefined = receive?.(req, identity);
      const received = await receiving;
      await answer(context, identity, req, res, received).finally(received?.release);
    },
  };
};
