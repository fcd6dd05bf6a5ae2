import type { Cluster, Redis, Result } from 'ioredis';
import { redisUnavailable } from '../redis-refusal.ts';
import {
  type Budget,
  type CreditCounters,
  type HeldCredits,
  type LedgerDetails,
  type ReservationRequest,
  settledTtlMs,
} from './credits.ts';
import { assertScript, heldScript, loadScript, settleScript } from './scripts.ts';

type Arguments = (string | number)[];

declare module 'ioredis' {
  interface RedisCommander<Context> {
    /** Defined by createRedisCredits; arguments and answers as in scripts.ts. */
    settleCredits(...keysAndArguments: Arguments): Result<null, Context>;
    loadCredits(...keysAndArguments: Arguments): Result<null, Context>;
    assertCredits(...keysAndArguments: Arguments): Result<null, Context>;
    heldCredits(...keysAndArguments: Arguments): Result<[number, ...string[]], Context>;
  }
}

/** One hash tag, which the rate counters of the owner's projects carry too. */
export const creditKeys = (ownerId: string): [string, string, string, string] => [
  `cr:{o:${ownerId}}`,
  `cr:{o:${ownerId}}:amounts`,
  `cr:{o:${ownerId}}:times`,
  `cr:{o:${ownerId}}:places`,
];

const place = ({ of = 'project', period, name }: Omit<Budget, 'limit' | 'of'> & Partial<Budget>) =>
  `${of}:${period} ${name}`;

/** As scripts.ts takes them. */
export const budgetArguments = (budgets: readonly Budget[] = []): Arguments =>
  budgets.flatMap((budget) => {
    const { limit } = budget;
    return typeof limit === 'number'
      ? [place(budget), limit, '']
      : [place(budget), '', limit.partOfMonth];
  });

/** Since when Redis has held credits without a loss; a new one after each loss. */
const epochKey = 'cr:epoch';
const pollMs = 1000;
/** How long an owner stays closed whose Redis has just lost everything: two polls and a little. */
const reassertMs = 2500;
/** Not every process may have noticed the loss. */
const isYoung = (epoch: string) => Date.now() - Number(epoch) <= pollMs + reassertMs;
const maxListed = 1000;
/** Settled calls are asserted for this long after; by then the ledger has most often booked them. */
const rememberedMs = 60_000;
const maxRemembered = 50_000;

interface Remembered {
  ownerId: string;
  millicredits: number;
  places: string;
  settled: boolean;
  /** The settlement has not reached Redis. */
  unsent: boolean;
  /** Epoch milliseconds of this process. */
  until: number;
}

export interface RedisCredits extends CreditCounters {
  /** This process has to settle the call; what Redis loses of it is put back. */
  remember(request: ReservationRequest, millicredits: number): void;
  stop(): void;
}

export interface RedisCreditsOptions {
  reservationTtlMs: number;
  now: (() => number) | undefined;
  onLoss: (() => void) | undefined;
}

/**
 * Each process remembers its own reservations, so that a Redis that was emptied gets them back: within
 * a poll of the epoch each gateway asserts its own, and until all had the time to, owners stay closed.
 */
export const createRedisCredits = (
  client: Redis | Cluster,
  { reservationTtlMs, now, onLoss }: RedisCreditsOptions,
): RedisCredits => {
  client.defineCommand('settleCredits', { numberOfKeys: 4, lua: settleScript });
  client.defineCommand('loadCredits', { numberOfKeys: 4, lua: loadScript });
  client.defineCommand('assertCredits', { numberOfKeys: 4, lua: assertScript });
  client.defineCommand('heldCredits', { numberOfKeys: 4, lua: heldScript });
  const at = () => now?.() ?? '';
  const calls = new Map<string, Remembered>();
  let epoch: string | undefined;
  let lossTimer: NodeJS.Timeout | undefined;

  const translateRedisError = <T>(answer: Promise<T>): Promise<T> =>
    answer.catch((cause: unknown) => {
      throw redisUnavailable(client, cause);
    });

  const sendSettlement = async (callId: string, call: Remembered) => {
    const { ownerId, millicredits } = call;
    await client.settleCredits(...creditKeys(ownerId), at(), callId, millicredits, settledTtlMs);
    call.unsent = false;
    if (millicredits === 0) calls.delete(callId);
  };

  const currentEpoch = async (): Promise<string> => {
    await client.set(epochKey, String(Date.now()), 'NX');
    return (await client.get(epochKey)) ?? '';
  };

  const assertAll = async () => {
    for (const [callId, { ownerId, millicredits, places, settled }] of calls) {
      const ttl = settled ? settledTtlMs : reservationTtlMs;
      const call = [callId, millicredits, ttl, places, settled ? 1 : 0];
      await client.assertCredits(...creditKeys(ownerId), at(), ...call);
    }
  };

  const poll = async () => {
    const found = await currentEpoch();
    // A loss may also come before the first poll.
    if (found !== epoch && (epoch !== undefined || isYoung(found))) {
      await assertAll();
      if (onLoss) lossTimer = setTimeout(onLoss, reassertMs).unref();
    }
    epoch = found;
    for (const [callId, call] of calls) {
      if (call.until <= Date.now()) calls.delete(callId);
      else if (call.unsent) await sendSettlement(callId, call);
    }
  };
  let polling = false;
  const timer = setInterval(() => {
    if (polling) return;
    polling = true;
    // Redis is away: the next poll tries again.
    poll()
      .catch(() => {})
      .finally(() => {
        polling = false;
      });
  }, pollMs);
  timer.unref();

  const store = async (
    ownerId: string,
    balance: number,
    seq: number,
    booked: readonly HeldCredits[],
    { monthMillicredits = balance, used = [] }: LedgerDetails = {},
  ) => {
    const closedMs = isYoung(await translateRedisError(currentEpoch())) ? reassertMs : 0;
    const calls = booked.flatMap(({ callId, millicredits }) => [callId, millicredits]);
    const uses = used.flatMap((use) => [place(use), use.millicredits]);
    const ledger = [balance, seq, monthMillicredits, closedMs];
    await translateRedisError(
      client.loadCredits(...creditKeys(ownerId), at(), ...ledger, booked.length, ...calls, ...uses),
    );
  };
  const list = (ownerId: string, most: number) =>
    translateRedisError(client.heldCredits(...creditKeys(ownerId), at(), most));

  return {
    remember({ ownerId, callId, budgets = [] }, millicredits) {
      if (calls.size >= maxRemembered) return;
      const until = Date.now() + reservationTtlMs;
      const places = budgets.map(place).join(' ');
      calls.set(callId, { ownerId, millicredits, places, settled: false, unsent: false, until });
    },
    stop() {
      clearInterval(timer);
      clearTimeout(lossTimer);
    },
    async settle(ownerId, callId, usedMillicredits) {
      const call: Remembered = {
        ownerId,
        millicredits: usedMillicredits,
        places: calls.get(callId)?.places ?? '',
        settled: true,
        unsent: true,
        until: Date.now() + rememberedMs,
      };
      calls.set(callId, call);
      // What does not reach Redis now is sent by the next poll.
      await sendSettlement(callId, call).catch(() => {});
    },
    load: (ownerId, balance, seq, details) => store(ownerId, balance, seq, [], details),
    book: store,
    reserved: async (ownerId) => (await list(ownerId, 0))[0],
    async held(ownerId) {
      const [, ...flat] = await list(ownerId, maxListed);
      return Array.from({ length: flat.length / 2 }, (_, index) => ({
        callId: flat[2 * index] ?? '',
        millicredits: Number(flat[2 * index + 1]),
      }));
    },
  };
};
