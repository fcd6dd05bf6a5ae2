import { BacklotError, type Challenge, type Failure } from './error.ts';
import { toJson } from './json.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
/** Objects go as JSON, lists with commas between. */
export type Query = Record<string, unknown>;

export interface CallOptions {
  query?: Query;
  /** A form and bytes go as they are, all else as JSON; what is no JSON is refused. */
  body?: unknown;
  headers?: Record<string, string | undefined>;
  signal?: AbortSignal | undefined;
  /** Whether the same call may be sent again. Default: all but PATCH; a POST carries an Idempotency-Key. */
  canRepeat?: boolean;
}

export interface TransportOptions {
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
export interface Watcher {
  /** @param answer as whoever calls gets it: what it says is read from a clone */
  sent(method: Method, path: string, options: CallOptions, answer: Promise<Response>): void;
  userChanged(): void;
}

export interface Transport {
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
export const maxWaitMs = 30_000;
const firstPauseMs = 300;
/** Hints that a transport shows. */
const maxHints = 50;
/** The server was busy, restarting, or behind something that was. */
const passing = new Set([429, 502, 503, 504]);

export const isPassing = ({ status, code }: BacklotError): boolean =>
  status === 0 || passing.has(status) || code === 'idempotency_in_progress';

export const pauseMsAfter = (
  { retryAfterSeconds = 0 }: { retryAfterSeconds?: number | undefined },
  tries: number,
): number => retryAfterSeconds * 1000 || Math.min(firstPauseMs * 2 ** tries, maxWaitMs);

/** Somewhat longer, by chance, so that those who were refused together don't come back together. */
export const wait = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise<void>((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      },
      ms * (1 + Math.random() / 4),
    );
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });

export const unreachable = (cause?: unknown): BacklotError =>
  new BacklotError(0, { error: 'The server can not be reached.' }, undefined, cause);

/** @throws BacklotError unless the answer is a success */
export const refuseFailure = async (response: Response): Promise<Response> => {
  if (response.ok) return response;
  const failure = (await response.json().catch(() => ({}))) as Failure;
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  const hint = response.headers.get('backlot-hint') ?? undefined;
  throw new BacklotError(
    response.status,
    { ...(hint && { hint }), ...failure },
    Number.isFinite(retryAfter) ? retryAfter : undefined,
  );
};

/** @throws BacklotError that asked for it, where this browser can not */
const prove = async (error: BacklotError, signal: AbortSignal | undefined): Promise<string> => {
  try {
    const { solve } = await import('./proof.ts');
    return await solve(error.challenge as Challenge, signal);
  } catch {
    throw signal?.aborted ? signal.reason : error;
  }
};

export const createTransport = ({
  baseUrl,
  fetch,
  retries,
  authorization,
  viewAs,
}: TransportOptions): Transport => {
  const url = (path: string, query: Query = {}) => {
    if (Object(query) !== query || '0' in query)
      throw new TypeError('Options are an object, such as { limit: 20 }.');
    const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
    const search = new URLSearchParams(
      pairs.map(([name, value]): [string, string] => [
        name,
        Object(value) === value && !Array.isArray(value) ? toJson(value, name) : String(value),
      ]),
    );
    return `${baseUrl}${path}${pairs.length > 0 ? `?${search}` : ''}`;
  };

  const shown = new Set<string>();
  /** What the server ignored, or would do in another way: once, for whoever writes the app. */
  const showHint = (response: Response): Response => {
    const hint = response.headers.get('backlot-hint');
    if (hint !== null && shown.size < maxHints && !shown.has(hint)) {
      shown.add(hint);
      console.warn(`Backlot: ${hint}`);
    }
    return response;
  };

  const tryOnce = async (address: string, init: RequestInit) => {
    try {
      return showHint(await refuseFailure(await fetch(address, init)));
    } catch (error) {
      if (error instanceof BacklotError || init.signal?.aborted) throw error;
      throw unreachable(error);
    }
  };

  const sendRepeatedly = async (method: Method, path: string, options: CallOptions) => {
    const { query, body, signal, canRepeat = method !== 'PATCH' } = options;
    const isRaw = body instanceof FormData || body instanceof Blob;
    const content = body === undefined ? null : isRaw ? body : toJson(body);
    const headers: Record<string, string | undefined> = {
      ...(body !== undefined && !isRaw && { 'Content-Type': 'application/json' }),
      ...(method === 'POST' && canRepeat && { 'Idempotency-Key': crypto.randomUUID() }),
      'Backlot-View-As': viewAs,
      ...options.headers,
    };
    for (let tries = 0; ; tries++) {
      const credential = await authorization();
      const sent = Object.entries({ ...headers, Authorization: credential }).filter(
        (header): header is [string, string] => header[1] !== undefined,
      );
      try {
        return await tryOnce(url(path, query), {
          method,
          headers: sent,
          body: content,
          ...(signal && { signal }),
        });
      } catch (error) {
        if (!(error instanceof BacklotError)) throw error;
        if (error.challenge && tries <= retries) {
          headers['Backlot-Proof'] = await prove(error, signal);
          continue;
        }
        if (!canRepeat || tries >= retries || !isPassing(error)) throw error;
        const pauseMs = pauseMsAfter(error, tries);
        if (pauseMs > maxWaitMs) throw error;
        await wait(pauseMs, signal);
      }
    }
  };

  const transport: Transport = {
    viewAs,
    url,
    authorization,
    send(method, path, options = {}) {
      const answer = sendRepeatedly(method, path, options);
      transport.watcher?.sent(method, path, options, answer);
      return answer;
    },
    call: async <T>(method: Method, path: string, options?: CallOptions) =>
      (await transport.send(method, path, options)).json() as Promise<T>,
  };
  return transport;
};
