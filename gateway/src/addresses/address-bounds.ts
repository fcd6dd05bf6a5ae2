import { ApiError, MIB } from '@backlot/contract';
import type { TakenPlaces } from '@backlot/http';
import { z } from 'zod';
import type { AddressBound, CountRefusal } from './refusals.ts';

/** What one network address (IPv6: a /64) may have of a gateway, whoever calls from it. */
export interface AddressBounds {
  /** Its calls of a class a minute in one project, in those that one caller may make. */
  callers: number;
  /** A minute: credentials and projects that were looked up and not found. */
  failedLookups: number;
  /** A minute: pages and files outside /api. */
  pages: number;
  /** At a time. Behind trusted proxies connections are theirs, and not bounded. */
  connections: number;
  openCalls: number;
  /** Answers without an end, which are no open calls. */
  streams: number;
  /** Of bodies whose calls have no answer yet, uploads excepted; of what is compressed, the most that it may become. */
  bodyBytes: number;
}

/** All addresses together may hold so many times what one may: calls and connections, and bytes, which are memory. */
export const addressesInAll = 10;
export const addressesInAllOfBytes = 4;

const count = (defaultValue: number, max: number) =>
  z.coerce.number().int().min(1).max(max).default(defaultValue);

export const addressSettings = z.object({
  BACKLOT_CALLERS_PER_ADDRESS: count(10, 10_000),
  BACKLOT_FAILED_LOOKUPS_PER_ADDRESS: count(600, 1_000_000),
  BACKLOT_CONNECTIONS_PER_ADDRESS: count(2000, 100_000),
  BACKLOT_OPEN_CALLS_PER_ADDRESS: count(500, 100_000),
  BACKLOT_BODY_MIB_PER_ADDRESS: count(64, 10_000),
});

export const readAddressBounds = (settings: z.output<typeof addressSettings>): AddressBounds => ({
  callers: settings.BACKLOT_CALLERS_PER_ADDRESS,
  failedLookups: settings.BACKLOT_FAILED_LOOKUPS_PER_ADDRESS,
  pages: 3000,
  streams: 1000,
  connections: settings.BACKLOT_CONNECTIONS_PER_ADDRESS,
  openCalls: settings.BACKLOT_OPEN_CALLS_PER_ADDRESS,
  bodyBytes: settings.BACKLOT_BODY_MIB_PER_ADDRESS * MIB,
});

export const defaultAddressBounds: AddressBounds = readAddressBounds(addressSettings.parse({}));

/** Differs by chance, so that those who are refused together don't come back together. */
const retryAfterSeconds = () => 1 + Math.floor(Math.random() * 4);

/** @throws ApiError rate_limited where the address has its part, overloaded where others have the rest */
export const requirePlaces = (
  taken: TakenPlaces,
  bound: AddressBound,
  countRefusal: CountRefusal,
): void => {
  if (taken === 'taken') return;
  countRefusal(bound);
  const options = { retryAfterSeconds: retryAfterSeconds() };
  if (taken === 'address-full')
    throw new ApiError(
      'rate_limited',
      'Too many calls at once from this network address. Wait for some to end.',
      options,
    );
  throw new ApiError('overloaded', 'Too many calls at once. Try again shortly.', options);
};
