import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Seeded } from './database/seed.ts';

const path = '/open-console';
const loopbackAddress = /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/;
const loopbackHost = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

const sha256 = (text: string) => createHash('sha256').update(text).digest();

/** Neither through a proxy on this machine nor by a name that somebody else has pointed at it. */
const isFromThisMachine = ({ socket, headers }: IncomingMessage) =>
  loopbackAddress.test(socket.remoteAddress ?? '') &&
  loopbackHost.test(headers.host ?? '') &&
  headers['x-forwarded-for'] === undefined &&
  headers.forwarded === undefined;

const headers = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

/** Keeps the token where the client of the project `platform` looks for it. */
const sendToken = (res: ServerResponse, token: string) => {
  const script = `localStorage.setItem('backlot ' + location.origin + '/api/runtime/platform', ${JSON.stringify(token)}); location.replace('/console/');`;
  const hash = createHash('sha256').update(script).digest('base64');
  const policy = `default-src 'none'; script-src 'sha256-${hash}'; frame-ancestors 'none'`;
  res.writeHead(200, { ...headers, 'Content-Security-Policy': policy });
  res.end(`<!doctype html><title>Backlot</title><script>${script}</script>`);
};

export interface OwnerLink {
  /** Whether it has taken the call. */
  answer(req: IncomingMessage, res: ServerResponse): boolean;
}

/** The one code that opens it. */
export interface LinkCode {
  /** Undefined once it is used. */
  read(): Promise<string | undefined>;
  /** True for one call of all. */
  use(): Promise<boolean>;
}

export const createLinkCode = (): string => randomBytes(24).toString('base64url');

/** Path and query, to be shown to whoever has started the platform. */
export const linkPath = (code: string): string => `${path}?code=${code}`;

export const keepCodeInMemory = (code: string): LinkCode => {
  let left: string | undefined = code;
  return {
    read: async () => left,
    async use() {
      const isFirst = left !== undefined;
      left = undefined;
      return isFirst;
    },
  };
};

/** The console, whose sign-in says why the link signs nobody in. */
const consoleSaying = (link: 'over' | 'password') => `/console/?link=${link}`;

/**
 * An address that signs a browser on this machine in, once; then, and for everybody else, it leads to the
 * sign-in of the console.
 * @param signIn the token of the owner; rejects where the password has been changed
 */
export const createOwnerLink = (code: LinkCode, signIn: () => Promise<string>): OwnerLink => {
  const take = async (
    req: IncomingMessage,
    given: string,
  ): Promise<{ token: string } | { location: string }> => {
    if (req.method !== 'GET' || !isFromThisMachine(req)) return { location: '/console/' };
    const known = await code.read();
    const isOpen = known !== undefined && timingSafeEqual(sha256(given), sha256(known));
    if (!isOpen || !(await code.use())) return { location: consoleSaying('over') };
    return signIn().then(
      (token) => ({ token }),
      () => ({ location: consoleSaying('password') }),
    );
  };
  return {
    answer(req, res) {
      const [asked, search] = (req.url ?? '').split('?');
      if (asked !== path) return false;
      take(req, new URLSearchParams(search).get('code') ?? '').then(
        (taken) => {
          if ('token' in taken) return sendToken(res, taken.token);
          res.writeHead(303, { Location: taken.location, 'Cache-Control': 'no-store' }).end();
        },
        () => res.destroy(),
      );
      return true;
    },
  };
};

/** @throws Error where the owner has another password by now */
export const signInAsOwner = async (port: number, owner: Seeded['owner']): Promise<string> => {
  const answer = await fetch(`http://127.0.0.1:${port}/api/runtime/platform/auth/signin`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(owner),
  });
  if (!answer.ok) throw new Error(`The sign-in answered ${answer.status}.`);
  return ((await answer.json()) as { token: string }).token;
};
