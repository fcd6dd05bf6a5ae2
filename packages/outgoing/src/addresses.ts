import { lookup as lookUp, promises } from 'node:dns';
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

/** An answer that is not what was asked for, or an address that is not asked at all. */
export class NotFetched extends Error {
  override readonly name = 'NotFetched';
}

const isLoopbackAddress = (address: string) => ipaddr.process(address).range() === 'loopback';
/** What is given out of IPv6: old ways to write an IPv4 address stand outside of it. */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/** Not of this machine, a private network, a link, a tunnel or a group. */
export const isPublicAddress = (address: string): boolean => {
  const parsed = ipaddr.process(address);
  return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(globalUnicast));
};

export const isLoopbackHost = (host: string): boolean =>
  /^(.+\.)?localhost$/.test(host) || (isIP(host) !== 0 && isLoopbackAddress(host));

export const hostName = (origin: string): string =>
  new URL(origin).hostname.replace(/^\[|\]$/g, '');

export interface AddressOptions {
  names: Names;
  /** Lets it ask this machine, where a developer's app runs. */
  allowsLoopback: boolean;
  timeoutMs: number;
}

export interface CheckedAddress {
  address: string;
  family: number;
}

/** Why an address that somebody has named is never asked, as far as it shows before its name is resolved. */
export const refusal = (url: URL, allowsLoopback: boolean): string | undefined => {
  const host = hostName(url.origin);
  if (allowsLoopback && isLoopbackHost(host)) return undefined;
  if (url.protocol !== 'https:') return 'it must be https';
  if (isLoopbackHost(host) || (isIP(host) !== 0 && !isPublicAddress(host)))
    return 'its host is not a public one';
  return undefined;
};

/**
 * The addresses behind a URL that somebody has named, resolved once: who connects to these alone is not led
 * elsewhere by what the name says the next time.
 * @throws NotFetched, or the network's error
 */
export const checkedAddresses = async (
  url: URL,
  { names, allowsLoopback, timeoutMs }: AddressOptions,
): Promise<CheckedAddress[]> => {
  const refused = refusal(url, allowsLoopback);
  if (refused !== undefined) throw new NotFetched(refused);
  const host = hostName(url.origin);
  const mayAsk = (address: string) =>
    isPublicAddress(address) ||
    (allowsLoopback && isLoopbackHost(host) && isLoopbackAddress(address));
  const resolved = isIP(host) ? [host] : await withTimeout(() => names.addresses(host), timeoutMs);
  if (!resolved) throw new NotFetched('its name was not resolved in time');
  if (resolved.length === 0 || !resolved.every(mayAsk))
    throw new NotFetched('its host is not a public one');
  return resolved.map((address) => ({ address, family: isIP(address) }));
};
