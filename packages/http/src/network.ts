import { isIP } from 'node:net';

/** The eight groups of an IPv6 address. */
const toGroups = (address: string): string[] => {
  const [left = '', right] = address.split('::');
  const head = left === '' ? [] : left.split(':');
  const tail = right ? right.split(':') : [];
  const zeros = right === undefined ? 0 : 8 - head.length - tail.length;
  return [...head, ...Array<string>(Math.max(0, zeros)).fill('0'), ...tail];
};

const cut = (ip: string, ipv4Parts: number, ipv6Groups: number): string | null => {
  const [address = ''] = ip.split('/');
  if (isIP(address) === 6) {
    const groups = toGroups(address).slice(0, ipv6Groups);
    return `${groups.join(':').replace(/(^|:)0(:0)*$/, '')}::/${16 * ipv6Groups}`;
  }
  if (isIP(address) !== 4) return null;
  const parts = address.split('.').map((part, n) => (n < ipv4Parts ? part : '0'));
  return `${parts.join('.')}/${8 * ipv4Parts}`;
};

/** Of an address as the gateway tells it, IPv6 as its /64: the /24 or /48 around it. Null where there is none. */
export const toNetwork = (ip: string): string | null => cut(ip, 3, 3);

/** The /16 or /32, within which a provider moves its customers about. */
export const toWideNetwork = (ip: string): string | null => cut(ip, 2, 2);
