import { type Cluster, Redis, type Result } from 'ioredis';
import { admitScript } from './admit-script.ts';
import type { Admission, Counters, RateCheck } from './counters.ts';
import {
  type Budget,
  type ReservationOutcome,
  type ReservationRequest,
  reservationTtlMs,
} from './credits/credits.ts';
import { budgetArguments, createRedisCredits, creditKeys } from './credits/redis.ts';
import { redisUnavailable, watchRefusal } from './redis-refusal.ts';

export { findRedis } from './redis-refusal.ts';

export interface RedisConnectionOptions {
  /** The longest that a call waits for Redis, in milliseconds. Default 100. */
  commandTimeoutMs?: number;
  /** Runs each command as a step of a trace. */
  step?: ((name: string, work: () => Promise<unknown>) => Promise<unknown>) | undefined;
  /** Called for each failed connection; ioredis goes on trying. */
  onError: (error: Error) => void;
  /** Told when Redis begins to refuse the user or the password, and when it takes them again. */
  onRefusal?: (isRefused: boolean) => void;
}

/** Commands of one iteration of the event loop are sent in one write. `onSent` is called after that. */
const batchWrites = (client: Redis) => {
  let waiting: (() => void)[] = [];
  return (onSent: () => void) => {
    waiting.push(onSent);
    if (waiting.length > 1) return;
    const { stream } = client;
    stream?.cork();
    setImmediate(() => {
      const sent = waiting;
      waiting = [];
      stream?.uncork();
      for (const startTimer of sent) startTimer();
    });
  };
};

/**
 * A connection that fails at once where Redis is out of reach, instead of queueing, and that sends
 * nothing a second time. It comes back by itself, within about a second of Redis. Where Redis is silent
 * for 2 s it is made anew.
 */
export const connectRedis = (
  url: string,
  { commandTimeoutMs = 100, onError, onRefusal = () => {}, step }: RedisConnectionOptions,
): Redis => {
  const client = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    autoResendUnfulfilledCommands: false,
    // CLIENT SETINFO, which redisUsers() does not allow.
    disableClientInfo: true,
    connectTimeout: 1_000,
    // A connection whose packets are dropped ends by nothing else.
    socketTimeout: 2_000,
    retryStrategy: (attempt) => Math.min(50 * 2 ** attempt, 1_000) * (0.5 + Math.random() / 2),
  });
  client.on('error', onError);
  watchRefusal(client, onRefusal);
  const send = client.sendCommand.bind(client);
  const batch = batchWrites(client);
  client.sendCommand = (command, stream) => {
    const timeOut = () => command.reject(new Error('Redis did not answer in time.'));
    let timer: NodeJS.Timeout | undefined;
    batch(() => {
      // A process that was busy finds the timer due before it has read the answer, which it does next.
      timer = setTimeout(() => setImmediate(timeOut), commandTimeoutMs);
    });
    const clear = () => clearTimeout(timer);
    command.promise.then(clear, clear);
    if (step) void step(command.name, async () => command.promise).catch(() => {});
    return send(command, stream);
  };
  return client;
};

declare module 'ioredis' {
  interface RedisCommander<Context> {
    /** Defined by createRedisCounters; arguments and answer as in admit-script.ts. */
    admit(keyCount: number, ...keysAndArguments: (string | number)[]): Result<number[], Context>;
  }
}

/** The part of a key by which Redis Cluster chooses the node: what stands in the first braces. */
const hashTag = (key: string): string => {
  const open = key.indexOf('{');
  const close = key.indexOf('}', open + 1);
  return open >= 0 && close > open + 1 ? key.slice(open + 1, close) : key;
};

const requireOneHashTag = (keys: readonly string[]) => {
  const [first] = keys;
  if (first === undefined) return;
  const tag = hashTag(first);
  const stray = keys.find((key) => hashTag(key) !== tag);
  if (stray) throw new RangeError(`The keys ${first} and ${stray} share no hash tag.`);
};

export interface RedisCountersOptions {
  /**
   * Epoch milliseconds, for tests; without it Redis' own clock counts, so that gateways whose clocks
   * differ agree.
   */
  now?: () => number;
  /** Longer than any call takes. Default 360,000. */
  reservationTtlMs?: number;
  /** Called after Redis has lost everything and all processes have put back what they hold. */
  onLoss?: () => void;
}

/**
 * Exact for all processes that use this Redis, in one round trip a call.
 * @throws CountersUnavailable; RangeError when the keys of a call do not share a hash tag
 */
export const createRedisCounters = (
  client: Redis | Cluster,
  { now, reservationTtlMs: ttlMs = reservationTtlMs, onLoss }: RedisCountersOptions = {},
): Counters => {
  client.defineCommand('admit', { lua: admitScript });
  const options = { reservationTtlMs: ttlMs, now, onLoss };
  const { remember, stop, ...credits } = createRedisCredits(client, options);
  return {
    ...credits,
    async admit(checks, request) {
      const keys = checks.map(({ key }) => key);
      if (request) keys.push(...creditKeys(request.ownerId));
      requireOneHashTag(keys);
      const limits = checks.flatMap(({ limit, windowMs, keepFree = 0, calls = 1 }) => [
        limit,
        windowMs,
        keepFree,
        calls,
      ]);
      const answer = await client
        .admit(
          keys.length,
          ...keys,
          now?.() ?? '',
          checks.length,
          ...limits,
          ...reservationArguments(request, ttlMs),
        )
        .catch((cause: unknown) => {
          throw redisUnavailable(client, cause);
        });
      const admission = toAdmission(checks, answer, request);
      if (request && admission.reservation?.kind === 'reserved') {
        remember(request, admission.reservation.millicredits);
      }
      return admission;
    },
    knownRefusal: () => undefined,
    async close() {
      stop();
      client.disconnect();
    },
  };
};

const reservationArguments = (request: ReservationRequest | undefined, ttlMs: number) => {
  if (!request) return [];
  const { callId, wantMillicredits, minMillicredits, budgets } = request;
  return [callId, wantMillicredits, minMillicredits, ttlMs, ...budgetArguments(budgets)];
};

const toOutcome = (reserved: number, boundBy: Budget | undefined): ReservationOutcome => {
  if (reserved === -1) return { kind: 'unloaded' };
  if (reserved === -3 && boundBy) return { kind: 'over_budget', budget: boundBy };
  return reserved > 0
    ? { kind: 'reserved', millicredits: reserved, ...(boundBy && { boundBy }) }
    : { kind: 'insufficient' };
};

const toAdmission = (
  checks: readonly RateCheck[],
  answer: readonly number[],
  request: ReservationRequest | undefined,
): Admission => {
  const [retryAfterMs = 0, reserved = -2, budget = 0, ...states] = answer;
  return {
    allowed: retryAfterMs === 0,
    retryAfterMs,
    states: checks.map(({ limit }, index) => ({
      limit,
      remaining: states[2 * index] ?? 0,
      resetMs: states[2 * index + 1] ?? 0,
    })),
    ...(reserved === -2
      ? {}
      : { reservation: toOutcome(reserved, request?.budgets?.[budget - 1]) }),
  };
};
