import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createPlaces } from '@backlot/http';
import { type AddressBounds, addressesInAll, requirePlaces } from './address-bounds.ts';
import { socketAddress } from './client-address.ts';
import type { CountRefusal } from './refusals.ts';

/**
 * Refuses a call whose address has too many open, before anything of it is looked at. Answers what gives the place back
 * before the call's end.
 * @throws ApiError rate_limited, overloaded
 */
export const createCountOpenCall = (
  { openCalls }: AddressBounds,
  readAddress: (req: IncomingMessage) => string,
  countRefusal: CountRefusal,
) => {
  const places = createPlaces({ total: openCalls * addressesInAll, perAddress: openCalls });
  return (req: IncomingMessage, res: ServerResponse): (() => void) => {
    const address = readAddress(req);
    requirePlaces(places.take(address), 'open-calls', countRefusal);
    let isLeft = false;
    const leave = () => {
      if (!isLeft) places.leave(address);
      isLeft = true;
    };
    res.once('close', leave);
    return leave;
  };
};

/** Whether a connection may stay; behind trusted proxies its address says nothing. */
export const createAcceptConnection = (
  { connections }: AddressBounds,
  trustedProxies: number,
  countRefusal: CountRefusal,
): ((socket: Socket) => boolean) => {
  if (trustedProxies > 0) return () => true;
  const places = createPlaces({ total: connections * addressesInAll, perAddress: connections });
  return (socket) => {
    const address = socketAddress(socket);
    if (places.take(address) !== 'taken') {
      countRefusal('connections');
      return false;
    }
    socket.once('close', () => places.leave(address));
    return true;
  };
};
