import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';

const plainIpv4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;
/** Half of an IPv6 address: what one subscriber usually holds, and so one caller. */
const prefixBytes = 8;

/** IPv4 as it is (also when written as IPv6), IPv6 cut to its /64; null for anything else. */
export const normalizeAddress = (text: string): string | null => {
  if (!ipaddr.isValid(text) || (!text.includes(':') && !plainIpv4.test(text))) return null;
  const address = ipaddr.process(text);
  if (address.kind() === 'ipv4') return address.toString();
  const bytes = address.toByteArray();
  const network = ipaddr.fromByteArray([
    ...bytes.slice(0, prefixBytes),
    ...bytes.slice(prefixBytes).fill(0),
  ]);
  return `${network.toString()}/64`;
};

/** Of the other end of a connection, which may be a proxy. */
export const socketAddress = (socket: Socket): string =>
  normalizeAddress(socket.remoteAddress ?? '') ?? 'unknown';

/**
 * The client's address. Of `X-Forwarded-For` only the entry that the outermost trusted proxy wrote
 * counts, so from the right; with no trusted proxies the header is not looked at.
 */
export const createClientAddress = (trustedProxies: number): ((req: IncomingMessage) => string) => {
  const addresses = new WeakMap<Socket, string>();
  const readSocketAddress = ({ socket }: IncomingMessage): string => {
    const cached = addresses.get(socket);
    if (cached !== undefined) return cached;
    const address = socketAddress(socket);
    addresses.set(socket, address);
    return address;
  };
  if (trustedProxies === 0) return readSocketAddress;
  return (req) => {
    const header = req.headers['x-forwarded-for'];
    if (header === undefined) return readSocketAddress(req);
    const entry = String(header).split(',').at(-trustedProxies)?.trim();
    return (entry ? normalizeAddress(entry) : null) ?? readSocketAddress(req);
  };
};
