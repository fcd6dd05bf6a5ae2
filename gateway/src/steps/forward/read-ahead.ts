import { IncomingMessage, type ServerResponse } from 'node:http';
import { setImmediate as nextLoop } from 'node:timers/promises';
import { ApiError, defaultBodyLimitBytes, type RouteDefinition } from '@backlot/contract';
import type { FairShares, Requester } from '@backlot/fair-shares';
import { roundedNumberRefusal } from '@backlot/http';
import { type Bodies, isComing, isPlain } from '../../addresses/bodies.ts';
import { ItemCounter } from './count-items.ts';

export interface ReadAhead {
  /** Streams to the service what was read here. */
  req: IncomingMessage;
  /** What the body means; undefined when it is no JSON that can be read here. */
  body: unknown;
  /** What the call weighs at its limits. */
  calls: number;
  /** For a body that turned out to be one to refuse; the call is counted before it is. */
  refusal?: ApiError;
}

/** Undefined where there are more. @throws ApiError invalid_body */
const collect = (req: IncomingMessage, limitBytes: number, counter: ItemCounter | undefined) =>
  new Promise<Buffer | undefined>((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size <= limitBytes) return counter?.push(chunk);
      req.off('data', onData);
      resolve(undefined);
    };
    req.on('data', onData);
    req.once('end', () => resolve(Buffer.concat(chunks)));
    req.once('error', reject);
    req.once('close', () => {
      if (!req.complete) reject(new ApiError('invalid_body', 'The body ended before its length.'));
    });
  });

const parse = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
};

const replay = (req: IncomingMessage, bytes: Buffer): IncomingMessage => {
  const copy = new IncomingMessage(req.socket);
  copy.method = req.method ?? '';
  copy.url = req.url ?? '';
  copy.httpVersion = req.httpVersion;
  copy.httpVersionMajor = req.httpVersionMajor;
  copy.httpVersionMinor = req.httpVersionMinor;
  copy.rawHeaders = req.rawHeaders;
  copy.headers = { ...req.headers, 'content-length': String(bytes.length) };
  delete copy.headers['transfer-encoding'];
  copy.complete = true;
  if (bytes.length > 0) copy.push(bytes);
  copy.push(null);
  return copy;
};

const bodyTooLarge = (limitBytes: number) =>
  new ApiError('body_too_large', `The body may have at most ${limitBytes} bytes.`);

export const bodyLimit = ({ bodyLimitBytes }: RouteDefinition): number =>
  bodyLimitBytes ?? defaultBodyLimitBytes;

/** The limit, and whether the body says itself that it is past it. */
const checkDeclaredSize = (req: IncomingMessage, definition: RouteDefinition) => {
  const limitBytes = bodyLimit(definition);
  return { limitBytes, isTooLarge: Number(req.headers['content-length'] ?? 0) > limitBytes };
};

/**
 * Refuses a body that says itself that it is too large, before a byte of it is forwarded. One that
 * does not say is cut off by the service.
 * @throws ApiError body_too_large
 */
export const checkSize = (req: IncomingMessage, definition: RouteDefinition): void => {
  const { limitBytes, isTooLarge } = checkDeclaredSize(req, definition);
  if (isTooLarge) throw bodyTooLarge(limitBytes);
};

type Weight = NonNullable<RouteDefinition['weight']>;

const weigh = ({ itemsPerCall, maxCalls }: Weight, { items }: ItemCounter): number =>
  Math.min(maxCalls, Math.max(1, Math.ceil(items / itemsPerCall)));

const needsBody = ({ price, answeredBy }: RouteDefinition): boolean =>
  Boolean(price?.needsBody || answeredBy);

/** The body tells what the call costs, weighs or wants. */
export const needsReadAhead = (definition: RouteDefinition): boolean =>
  needsBody(definition) || definition.weight !== undefined;

export interface ReadAheadCall {
  definition: RouteDefinition;
  requester: Requester;
  /** performance.now() */
  startedAt: number;
}

/** What is parsed and priced in turns: it takes the thread that all calls share. */
const largeBodyBytes = 4096;

/** Keeps its turn until what else has come meanwhile was served. */
const parseThenYield = async (bytes: Buffer): Promise<unknown> => {
  const body = parse(bytes);
  await nextLoop();
  return body;
};

/**
 * Reads the body of a call whose price, weight or answer depends on it. A body that says itself that it is too large
 * stays unread.
 * @throws ApiError invalid_body, request_timeout, rate_limited, overloaded; FairShareFull
 */
export const createReadAhead = (bodies: Bodies, turns: FairShares) => {
  const parseInTurn = (bytes: Buffer, requester: Requester) =>
    bytes.length > largeBodyBytes
      ? turns.run(requester, () => parseThenYield(bytes))
      : parse(bytes);

  return async (
    req: IncomingMessage,
    res: ServerResponse,
    { definition, requester, startedAt }: ReadAheadCall,
  ): Promise<ReadAhead> => {
    const [, , address] = requester;
    const { limitBytes, isTooLarge } = checkDeclaredSize(req, definition);
    const { weight } = definition;
    const unread = { req, body: undefined, calls: weight?.maxCalls ?? 1 };
    if (isTooLarge) return unread;
    const slow = Promise.withResolvers<undefined>();
    const held = isComing(req)
      ? bodies.expect(req, res, { address, limitBytes, startedAt, onSlow: slow.reject })
      : undefined;
    const counter = weight && isPlain(req) ? new ItemCounter() : undefined;
    const bytes = await Promise.race([collect(req, limitBytes, counter), slow.promise]);
    if (!bytes) return { ...unread, refusal: bodyTooLarge(limitBytes) };
    held?.shrink(bytes.length);
    const refusal = definition.answeredBy && roundedNumberRefusal(definition, bytes.toString());
    return {
      ...(refusal && { refusal }),
      req: replay(req, bytes),
      body: needsBody(definition) ? await parseInTurn(bytes, requester) : undefined,
      calls: weight && counter ? weigh(weight, counter) : unread.calls,
    };
  };
};
