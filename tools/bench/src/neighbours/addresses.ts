import { randomInt } from 'node:crypto';
import { Agent, Dispatcher1Wrapper } from 'undici';

/**
 * Where a socket comes from: an address of Linux's loopback network, which a platform on this machine
 * takes for the caller's. Undefined: what the system chooses.
 */
export type Address = string | undefined;

/** For sockets: `localhost` may be ::1 too, which no address of 127.0.0.0/8 reaches. */
export const from = (address: Address) =>
  address === undefined ? {} : { localAddress: address, family: 4 };

export const fetchFrom = (address: Address): typeof fetch => {
  if (address === undefined) return fetch;
  const agent = new Agent({ localAddress: address, connect: { family: 4 } });
  // Node's fetch is typed by the undici that Node brings, which is another version.
  const through = { dispatcher: new Dispatcher1Wrapper(agent) } as object as RequestInit;
  return (url, init) => fetch(url, { ...init, ...through });
};

/**
 * Addresses that nobody has called from, since what one may do in an hour is bounded: 20 owners, 100
 * users of a project. To a platform elsewhere this machine has one address.
 */
export const newAddresses = (origin: string, count: number): Address[] => {
  const isHere =
    process.platform === 'linux' && /^(localhost|127\.[\d.]+)$/.test(new URL(origin).hostname);
  const network = `127.${randomInt(1, 255)}.${randomInt(1, 255)}`;
  return Array.from({ length: count }, (_, index) =>
    isHere ? `${network}.${index + 1}` : undefined,
  );
};
