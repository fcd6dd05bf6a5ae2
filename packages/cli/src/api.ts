import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Challenge } from './proof-of-work.ts';
import { readSession } from './session.ts';

/** What went wrong, in a sentence for who typed the command. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';
  readonly hint: string | undefined;
  /** After how long the same may succeed; undefined where it will not. */
  readonly retryAfterSeconds: number | undefined;
  /** What is to be solved first. */
  readonly challenge: Challenge | undefined;

  constructor(message: string, hint?: string, retryAfterSeconds?: number, challenge?: Challenge) {
    super(message);
    this.challenge = challenge;
    this.hint = hint;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Target {
  host: string;
  /** A token or a key. */
  credential: string | undefined;
}

const timeoutMs = 60_000;
const defaultHost = 'http://localhost:8080';

export const toOrigin = (host: string): string => {
  const url = URL.canParse(host) ? new URL(host) : undefined;
  if (url && /^https?:$/.test(url.protocol)) return url.origin;
  throw new CallFailed(`"${host}" is no address such as https://api.example.org.`);
};

const toBody = (body: unknown): RequestInit & { duplex?: 'half' } => {
  if (body instanceof ReadableStream) return { body, duplex: 'half' };
  return {
    body: body instanceof Uint8Array ? new Uint8Array(body) : (JSON.stringify(body) ?? null),
  };
};

/**
 * The answer, whose body has not come yet.
 * @param body JSON, or bytes whose type a header says, or a stream of them
 * @param waitMs until the answer begins
 * @throws CallFailed
 */
export const openCall = async (
  { host, credential }: Target,
  method: Method,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
  waitMs = timeoutMs,
): Promise<Response> => {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(new Error('It did not answer in time.')), waitMs);
  const request = fetch(host + path, {
    method,
    headers: {
      ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...toBody(body),
    signal: stop.signal,
  });
  const response = await request
    .catch((cause: unknown) => {
      const hint = cause instanceof Error ? cause.message : '';
      throw new CallFailed(`${host} can not be reached.`, hint, 1);
    })
    .finally(() => clearTimeout(timer));
  if (response.ok) return response;
  throw toFailure(response, await response.text());
};

/** The answer's text. @throws CallFailed */
export const callText = async (...given: Parameters<typeof openCall>): Promise<string> =>
  (await openCall(...given)).text();

const mayPass = new Set([429, 502, 503, 504]);

const toFailure = ({ status, headers }: Response, text: string): CallFailed => {
  const after = mayPass.has(status) ? Number(headers.get('retry-after') ?? 1) : undefined;
  try {
    type Failure = { error: string; hint?: string; challenge?: Challenge };
    const { error, hint, challenge } = JSON.parse(text) as Failure;
    return new CallFailed(error, hint, after, challenge);
  } catch {
    return new CallFailed(`The server answered ${status}.`, undefined, after);
  }
};

const maxTries = 6;
const mostSeconds = 60;

/** Tries again what may be done twice, where that may succeed. @throws CallFailed */
export const patiently = async <T>(work: () => Promise<T>): Promise<T> => {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof CallFailed) || tries === maxTries) throw error;
      const { retryAfterSeconds: seconds } = error;
      if (seconds === undefined || seconds > mostSeconds) throw error;
      await wait(1000 * Math.max(seconds, 2 ** (tries - 2)));
    }
  }
};

/** @throws CallFailed */
export const call = async <T>(...given: Parameters<typeof callText>): Promise<T> =>
  JSON.parse(await callText(...given)) as T;

/** Options of the whole command, wherever they stand. */
export interface GlobalOptions {
  host?: string;
  key?: string;
  json?: true;
}

/** Where to call, without a credential. */
export const findHost = async (command: Command): Promise<string> => {
  const { host } = command.optsWithGlobals<GlobalOptions>();
  return toOrigin(host ?? process.env.BACKLOT_HOST ?? (await readSession())?.host ?? defaultHost);
};

/** Where to call, and as whom: a token goes only to the host that gave it. @throws CallFailed */
export const findTarget = async (command: Command): Promise<Target & { credential: string }> => {
  const host = await findHost(command);
  const session = await readSession();
  const credential =
    command.optsWithGlobals<GlobalOptions>().key ??
    process.env.BACKLOT_KEY ??
    (session?.host === host ? session.token : undefined);
  if (credential) return { host, credential };
  throw new CallFailed(`You are not signed in at ${host}.`, 'Run: backlot login, or pass --key.');
};
