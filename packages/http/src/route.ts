import { createHash } from 'node:crypto';
import {
  ApiError,
  type BodyOf,
  type ParamsOf,
  type QueryOf,
  type ResponseOf,
  type RouteDefinition,
  usageHeader,
} from '@backlot/contract';
import {
  type Identity,
  IdentityInvalid,
  type IdentityVerifier,
  identityHeader,
} from '@backlot/identity';
import type { Request, RequestHandler, Response } from 'express';
import type { z } from 'zod';
import { failureBody, toApiError } from './failure.ts';
import { readJsonBody } from './json-body.ts';

/** What a handler gets: validated input and a verified identity, never `req` or `res`. */
export interface Call<R extends RouteDefinition> {
  params: ParamsOf<R>;
  query: QueryOf<R>;
  body: BodyOf<R>;
  /** The body as it came: validation copies, and drops a `__proto__` key without a word. */
  sent: { value: unknown; text: string };
  identity: Identity;
  /** A request header by its lower-case name. */
  header(name: string): string | undefined;
}

/** JSON that somebody else (PostgreSQL) has already written. */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export interface Reply<R extends RouteDefinition> {
  body: ResponseOf<R> | JsonText;
  headers?: Record<string, string>;
  /** What a priced call used; a replay of its answer uses nothing. */
  usedMillicredits?: number;
}

export type Handler<R extends RouteDefinition> = (call: Call<R>) => Promise<Reply<R>>;

interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Structurally what packages/database offers as IdempotencyStore. */
export interface IdempotencyPort {
  run(
    call: { scope: string; key: string; request: string },
    work: () => Promise<Answer>,
    keptFailure: (error: unknown) => Answer | undefined,
  ): Promise<{ answer: Answer; replayed: boolean } | 'mismatch' | 'in_progress'>;
}

export interface RouteContext {
  identities: IdentityVerifier;
  idempotency: IdempotencyPort;
  /** Validates what handlers answer against the contract; on in tests. */
  checkResponses: boolean;
}

export interface MountedRoute {
  definition: RouteDefinition;
  middleware(context: RouteContext): RequestHandler;
}

/** Contract section 2: at most 255 characters. */
const maxIdempotencyKeyLength = 255;

const validate = (
  schema: z.ZodType | undefined,
  value: unknown,
  code: 'invalid_path' | 'invalid_query' | 'invalid_body',
) => {
  if (!schema) return undefined;
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const field = issue?.path.map(String).join('.');
  if (value === undefined) throw new ApiError(code, 'Send a JSON body.');
  throw new ApiError(
    code,
    field ? `"${field}": ${issue?.message}` : (issue?.message ?? 'Invalid input.'),
  );
};

const identify = (req: Request, context: RouteContext): Identity => {
  try {
    return context.identities.verify(req.headers[identityHeader]);
  } catch (error) {
    if (!(error instanceof IdentityInvalid)) throw error;
    throw new ApiError('unauthenticated', 'This service answers the gateway only.', {
      cause: error,
    });
  }
};

const checkCaller = (definition: RouteDefinition, identity: Identity): void => {
  if (definition.callers.includes(identity.caller)) return;
  if (identity.caller === 'anonymous') throw new ApiError('unauthenticated', 'Sign in first.');
  throw new ApiError('forbidden', `This call is not open to the caller "${identity.caller}".`);
};

const callerName = (identity: Identity) => identity.userId ?? identity.keyId ?? identity.ip;

const send = (res: Response, answer: Answer) => {
  res.writeHead(answer.status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(answer.body),
    ...answer.headers,
  });
  res.end(answer.body);
};

/**
 * Binds a handler to its definition. The order is the contract's: identity, anonymous callers, body
 * size and type, fields, then whether this caller may.
 */
export const route = <const R extends RouteDefinition>(
  definition: R,
  handler: Handler<R>,
): MountedRoute => ({
  definition,
  middleware: (context) => async (req, res) => {
    const identity = identify(req, context);
    if (identity.caller === 'anonymous') checkCaller(definition, identity);
    const sent = await readJsonBody(req, res, definition);
    const call = {
      params: validate(definition.params, req.params, 'invalid_path'),
      query: validate(definition.query, req.query, 'invalid_query'),
      body: validate(definition.body, sent.value, 'invalid_body'),
      sent,
      identity,
      header: (name: string) => {
        const value = req.headers[name];
        return Array.isArray(value) ? value[0] : value;
      },
    } as Call<R>;
    checkCaller(definition, identity);

    let usage: Record<string, string> = {};
    const work = async (): Promise<Answer> => {
      const { body, headers = {}, usedMillicredits } = await handler(call);
      if (usedMillicredits !== undefined) usage = { [usageHeader]: String(usedMillicredits) };
      if (context.checkResponses) {
        definition.response.parse(
          body instanceof JsonText ? JSON.parse(body.text) : JSON.parse(JSON.stringify(body)),
        );
      }
      return {
        status: definition.status,
        headers,
        body: body instanceof JsonText ? body.text : JSON.stringify(body),
      };
    };

    const key = definition.method === 'POST' ? call.header('idempotency-key') : undefined;
    const answer =
      key === undefined
        ? await work()
        : await once(
            definition,
            identity,
            key,
            { path: req.url, text: sent.text, requestId: call.header('x-request-id') ?? '' },
            work,
            context,
          );
    // Not part of the answer: it isn't kept for a replay, which does no work.
    send(res, { ...answer, headers: { ...answer.headers, ...usage } });
  },
});

const once = async (
  definition: RouteDefinition,
  identity: Identity,
  key: string,
  request: { path: string; text: string; requestId: string },
  work: () => Promise<Answer>,
  context: RouteContext,
): Promise<Answer> => {
  if (key.length === 0 || key.length > maxIdempotencyKeyLength) {
    throw new ApiError(
      'invalid_header',
      `Idempotency-Key must have 1 to ${maxIdempotencyKeyLength} characters.`,
    );
  }
  const keptFailure = (error: unknown): Answer | undefined => {
    const failure = toApiError(error);
    if (failure.status === 402 || failure.status === 429 || failure.status >= 500) return undefined;
    return {
      status: failure.status,
      headers: failure.headers,
      body: failureBody(failure, request.requestId),
    };
  };
  const scope = [
    identity.project.number,
    identity.caller,
    callerName(identity),
    definition.operationId,
    key,
  ].join('\n');
  const digest = createHash('sha256')
    .update(request.path)
    .update('\n')
    .update(request.text)
    .digest('hex');
  const result = await context.idempotency.run({ scope, key, request: digest }, work, keptFailure);
  if (result === 'mismatch') {
    throw new ApiError(
      'idempotency_mismatch',
      'This Idempotency-Key was used with another request.',
    );
  }
  if (result === 'in_progress') {
    throw new ApiError(
      'idempotency_in_progress',
      'The first request with this Idempotency-Key is still running.',
      {
        retryAfterSeconds: 1,
      },
    );
  }
  if (!result.replayed) return result.answer;
  return { ...result.answer, headers: { ...result.answer.headers, 'Idempotent-Replayed': 'true' } };
};
