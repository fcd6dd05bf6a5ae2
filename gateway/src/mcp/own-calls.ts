import { createServer, type IncomingMessage, type RequestListener, request } from 'node:http';
import { type Duplex, duplexPair } from 'node:stream';
import { ApiError } from '@backlot/contract';

/** A call that the gateway makes to itself for somebody who called it. */
export interface OwnCall {
  method: string;
  /** As a client would send it, with its query. */
  path: string;
  body?: unknown;
  headers?: Readonly<Record<string, string>> | undefined;
}

export interface OwnAnswer {
  status: number;
  text: string;
  retryAfterSeconds: number | undefined;
}

export interface OwnCallOptions {
  /** What the caller sent: their credential and their address go on. */
  caller: IncomingMessage;
  requestId: string;
  /** Aborted when the caller has gone. */
  signal: AbortSignal;
  /** Of the answer. */
  maxBytes: number;
}

/** As large as a client's may be. */
const maxHeaderSize = 32 * 1024;

/** Both ends of a connection in memory. What the far one sends is copied, as its sender frees what a socket has taken. */
const connect = (): [Duplex, Duplex] => {
  const [near, far] = duplexPair();
  const write = far._write.bind(far);
  far._write = (chunk, encoding, callback) => write(Buffer.from(chunk), encoding, callback);
  return [near, far];
};

const answerTooLarge = (maxBytes: number) =>
  new ApiError('query_too_expensive', `The answer has more than ${maxBytes / 1024} KiB.`, {
    hint: 'Ask for fewer records ("limit"), or name the "fields" that you need.',
  });

const passedHeaders = (
  { headers }: IncomingMessage,
  requestId: string,
  body: string | undefined,
) => ({
  connection: 'close',
  'x-request-id': requestId,
  ...(headers.authorization !== undefined && { authorization: headers.authorization }),
  ...(headers['x-forwarded-for'] !== undefined && {
    'x-forwarded-for': headers['x-forwarded-for'],
  }),
  ...(body !== undefined && {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  }),
});

const readText = async (res: IncomingMessage, maxBytes: number): Promise<string> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of res as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw answerTooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
};

export type SendOwnCall = (call: OwnCall, options: OwnCallOptions) => Promise<OwnAnswer>;

/**
 * Calls the API as the caller would, through everything that a call from outside goes through: credential,
 * limits, prices, rights. The connection lies in memory (`net` knows nothing of it) and looks as if it came
 * from the caller's address.
 * @throws ApiError query_too_expensive where the answer is too large, unavailable
 */
export const createOwnCalls = (app: RequestListener): SendOwnCall => {
  const server = createServer({ maxHeaderSize }, app);
  return async ({ method, path, body, headers: own }, { caller, requestId, signal, maxBytes }) => {
    const [near, far] = connect();
    Object.defineProperty(far, 'remoteAddress', { value: caller.socket.remoteAddress });
    server.emit('connection', far);
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = { ...own, ...passedHeaders(caller, requestId, text) };
    try {
      const res = await new Promise<IncomingMessage>((resolve, reject) => {
        const call = request({ method, path, headers, signal, createConnection: () => near });
        call.once('response', resolve);
        call.once('error', reject);
        call.end(text);
      });
      const retryAfter = Number(res.headers['retry-after']);
      return {
        status: res.statusCode ?? 0,
        text: await readText(res, maxBytes),
        retryAfterSeconds: retryAfter > 0 ? retryAfter : undefined,
      };
    } catch (cause) {
      if (cause instanceof ApiError) throw cause;
      throw new ApiError('unavailable', 'The call was cut off.', { cause, retryAfterSeconds: 2 });
    } finally {
      near.destroy();
      far.destroy();
    }
  };
};
