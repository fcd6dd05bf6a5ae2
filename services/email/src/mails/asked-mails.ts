import { createHash } from 'node:crypto';
import type { Bound, WindowCounts } from '@backlot/service';

const dayMs = 24 * 60 * 60 * 1000;
/** Bounces and complaints of a network address a day, and of all; past the latter an address has few. */
export const askedBounces = { address: 20, installation: 500, addressThen: 1 };

export const hashAddress = (ip: string): string => createHash('sha256').update(ip).digest('hex');

const ofAddress = (askedFrom: string, max: number): Bound => ({
  name: `bounces of mails asked from ${askedFrom}`,
  windowMs: dayMs,
  max,
});
const ofAll: Bound = {
  name: 'bounces of mails that people ask for',
  windowMs: dayMs,
  max: askedBounces.installation,
};
const without = (bound: Bound): Bound => ({ ...bound, max: 2 ** 31 - 1 });

export type AskedMails = ReturnType<typeof createAskedMails>;

/**
 * Mails that people ask for to an address that they call their own: those of accounts, and those to the caller. That
 * they bounce is no fault of the project: it counts for the network address that asked, so that one who signs up with
 * addresses that nobody has ends nobody's mails but theirs.
 */
export const createAskedMails = (windowCounts: WindowCounts) => ({
  /** @param askedFrom undefined in events of older versions */
  async mayAsk(askedFrom: string | undefined): Promise<boolean> {
    if (askedFrom === undefined) return true;
    const max = (await windowCounts.hasRoom([ofAll]))
      ? askedBounces.address
      : askedBounces.addressThen;
    return windowCounts.hasRoom([ofAddress(askedFrom, max)]);
  },

  /** One that bounced or was complained about. */
  async countBounce(askedFrom: string): Promise<void> {
    await windowCounts.take([without(ofAddress(askedFrom, 0)), without(ofAll)]);
  },
});
