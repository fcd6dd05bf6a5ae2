import type { Command } from 'commander';
import { readSession } from './session.ts';

/** What went wrong, in a sentence for who typed the command. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
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

/** The answer's text. @throws CallFailed */
export const callText = async (
  { host, credential }: Target,
  method: Method,
  path: string,
  body?: unknown,
): Promise<string> => {
  const request = fetch(host + path, {
    method,
    headers: {
      ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    body: body === undefined ? null : JSON.stringify(body),
    signal: AbortSignal.timeout(timeoutMs),
  });
  const response = await request.catch((cause: unknown) => {
    throw new CallFailed(
      `${host} can not be reached.`,
      cause instanceof Error ? cause.message : '',
    );
  });
  const text = await response.text();
  if (response.ok) return text;
  throw toFailure(response.status, text);
};

const toFailure = (status: number, text: string): CallFailed => {
  try {
    const { error, hint } = JSON.parse(text) as { error: string; hint?: string };
    return new CallFailed(error, hint);
  } catch {
    return new CallFailed(`The server answered ${status}.`);
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
