import { lookup as lookUp, promises } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import { withTimeout } from '@backlot/http';
import ipaddr from 'ipaddr.js';

/** How names are resolved. */
export interface Names {
  /** Addresses of the host. */
  addresses(host: string): Promise<string[]>;
  /** TXT records, each in its parts. */
  texts(name: string, timeoutMs: number): Promise<string[][]>;
}

export const systemNames: Names = {
  addresses: (host) =>
    new Promise((resolve, reject) => {
      lookUp(host, { all: true }, (error, found) =>
        error ? reject(error) : resolve(found.map(({ address }) => address)),
      );
    }),
  texts: (name, timeoutMs) =>
    new promises.Resolver({ timeout: timeoutMs, tries: 1 }).resolveTxt(name),
};

/** An answer that is no proof, or an address that is not asked at all. */
export class NotFetched extends Error {
  override readonly name = 'NotFetched';
}

const isLoopbackAddress = (address: string) => ipaddr.process(address).range() === 'loopback';
/** Not of this machine, a private network, a link, a tunnel or a group. */
export const isPublicAddress = (address: string): boolean =>
  ipaddr.process(address).range() === 'unicast';

export const isLoopbackHost = (host: string): boolean =>
  /^(.+\.)?localhost$/.test(host) || (isIP(host) !== 0 && isLoopbackAddress(host));

export const hostName = (origin: string): string =>
  new URL(origin).hostname.replace(/^\[|\]$/g, '');

export interface FetchOptions {
  names: Names;
  /** Lets it ask this machine, where a developer's app runs. */
  allowsLoopback: boolean;
  timeoutMs: number;
  maxBytes: number;
}

/**
 * The text at an address that somebody has named. It connects to addresses that were checked after the
 * name was resolved, follows no redirect, sends no credential and reads no more than it may.
 * @throws NotFetched, or the network's error
 */
export const fetchText = async (
  url: URL,
  { names, allowsLoopback, timeoutMs, maxBytes }: FetchOptions,
): Promise<string> => {
  const host = hostName(url.origin);
  const mayAsk = (address: string) =>
    isPublicAddress(address) ||
    (allowsLoopback && isLoopbackHost(host) && isLoopbackAddress(address));
  if (url.protocol !== 'https:' && !(allowsLoopback && isLoopbackHost(host)))
    throw new NotFetched('only https is asked');
  const signal = AbortSignal.timeout(timeoutMs);
  const resolved = isIP(host) ? [host] : await withTimeout(() => names.addresses(host), timeoutMs);
  if (!resolved) throw new NotFetched('its name was not resolved in time');
  const checked = resolved.map((address) => ({ address, family: isIP(address) }));
  const [first] = checked;
  if (!first || !resolved.every(mayAsk)) throw new NotFetched('its host is not a public one');

  return new Promise((resolve, reject) => {
    const { request } = url.protocol === 'https:' ? https : http;
    const call = request(
      url,
      {
        agent: false,
        signal,
        headers: { accept: 'text/plain', 'accept-encoding': 'identity', connection: 'close' },
        lookup: (_host, options, done) => {
          if (options.all) done(null, checked);
          else done(null, first.address, first.family);
        },
      },
      (answer) => {
        if (answer.statusCode !== 200) {
          answer.destroy();
          return reject(new NotFetched(`it answered ${answer.statusCode}`));
        }
        const chunks: Buffer[] = [];
        let bytes = 0;
        answer.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes <= maxBytes) return chunks.push(chunk);
          answer.destroy();
          return reject(new NotFetched('its answer is too long'));
        });
        answer.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
        answer.on('error', reject);
      },
    );
    call.on('error', reject);
    call.end();
  });
};
