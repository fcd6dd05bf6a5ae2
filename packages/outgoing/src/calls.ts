import http, { type IncomingMessage, type RequestOptions } from 'node:http';
import https from 'node:https';
import {
  type AddressOptions,
  type CheckedAddress,
  checkedAddresses,
  NotFetched,
} from './addresses.ts';

export interface CallOptions extends AddressOptions {
  /** Of the answer. */
  maxBytes: number;
}

/** How long the rest of an answer is waited for whose status alone counts. */
const graceMs = 1000;

const lookUpAmong =
  ([first, ...others]: readonly CheckedAddress[]): NonNullable<RequestOptions['lookup']> =>
  (_host, options, done) => {
    if (!first) done(new Error('There is no address.'), '');
    else if (options.all) done(null, [first, ...others]);
    else done(null, first.address, first.family);
  };

/**
 * The head of the answer of an address that somebody has named. It connects to addresses that were checked
 * after the name was resolved, follows no redirect and sends no credential.
 * @throws NotFetched, or the network's error
 */
const ask = async (
  url: URL,
  { method, headers, body }: { method: string; headers: Record<string, string>; body?: string },
  options: CallOptions,
): Promise<IncomingMessage> => {
  const signal = AbortSignal.timeout(options.timeoutMs);
  const checked = await checkedAddresses(url, options);
  return new Promise((resolve, reject) => {
    const { request } = url.protocol === 'https:' ? https : http;
    const call = request(url, {
      method,
      agent: false,
      signal,
      headers: { ...headers, connection: 'close' },
      lookup: lookUpAmong(checked),
    });
    call.on('response', resolve);
    // An answer that switches protocols is none.
    call.on('upgrade', (_answer, socket) => {
      socket.destroy();
      reject(new NotFetched('it answered 101'));
    });
    call.on('error', reject);
    call.end(body);
  });
};

const readBytes = async (answer: IncomingMessage, maxBytes: number): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new NotFetched('its answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

/** The text at an address that somebody has named, of at most so many bytes. @throws NotFetched, or the network's error */
export const fetchText = async (url: URL, options: CallOptions): Promise<string> => {
  const headers = { accept: 'text/plain', 'accept-encoding': 'identity' };
  const answer = await ask(url, { method: 'GET', headers }, options);
  if (answer.statusCode !== 200) {
    answer.on('error', () => {}).destroy();
    throw new NotFetched(`it answered ${answer.statusCode}`);
  }
  return (await readBytes(answer, options.maxBytes)).toString('utf8');
};

export type GuardedFetch = (
  url: string,
  init: { method?: string; headers?: Record<string, string>; body?: unknown },
) => Promise<Response>;

const bodyless = [101, 204, 205, 304];

/** `fetch` for addresses that somebody has named; a body is text or a form. Rejects with NotFetched, or the network's error. */
export const createGuardedFetch =
  (options: CallOptions): GuardedFetch =>
  async (url, { method = 'GET', headers = {}, body }) => {
    const text = body === undefined || body === null ? undefined : String(body);
    const length = text !== undefined && { 'content-length': String(Buffer.byteLength(text)) };
    const sent = { ...headers, ...length, 'accept-encoding': 'identity' };
    const call = { method, headers: sent, ...(text !== undefined && { body: text }) };
    const answer = await ask(new URL(url), call, options);
    const status = answer.statusCode ?? 0;
    const bytes = await readBytes(answer, options.maxBytes);
    const type = answer.headers['content-type'];
    return new Response(bodyless.includes(status) ? null : new Uint8Array(bytes), {
      status,
      ...(type !== undefined && { headers: { 'content-type': type } }),
    });
  };

/** What comes behind the head is read no further than it may be, and not waited for long. */
const drain = (answer: IncomingMessage, maxBytes: number): Promise<void> =>
  new Promise((resolve) => {
    let bytes = 0;
    const timer = setTimeout(() => answer.destroy(), graceMs);
    answer.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) answer.destroy();
    });
    answer.on('error', () => {});
    answer.on('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });

/** Sends a text to an address that somebody has named; the answer's status. @throws NotFetched, or the network's error */
export const postText = async (
  url: URL,
  headers: Record<string, string>,
  body: string,
  options: CallOptions,
): Promise<number> => {
  const length = String(Buffer.byteLength(body));
  const call = { method: 'POST', headers: { ...headers, 'content-length': length }, body };
  const answer = await ask(url, call, options);
  await drain(answer, options.maxBytes);
  return answer.statusCode ?? 0;
};
