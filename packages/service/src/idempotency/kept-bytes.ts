import { LRUCache } from 'lru-cache';

const dayMs = 24 * 60 * 60_000;

/** An answer of no more bytes is kept in any case: most have 200 to 600. */
const smallAnswerBytes = 1024;

/** Of an owner's larger answers, in each process. */
export const usualBytesADay = 256 * 1024 * 1024;

const maxOwners = 10_000;

/**
 * How much of what answers to calls with an Idempotency-Key say is kept. Visitors may store it without an account, and
 * no quota counts it: what an answer of a created record has of the request is not kept, but a space in the wrong
 * place makes it a megabyte.
 * @param now epoch milliseconds
 * @returns whether an answer of the owner may be kept, which counts it
 */
export const createKeptBytes = (now: () => number, bytesADay: number) => {
  const days = new LRUCache<string, { since: number; bytes: number }>({ max: maxOwners });
  return (owner: string, bytes: number): boolean => {
    if (bytes <= smallAnswerBytes) return true;
    const known = days.get(owner);
    const day = known && now() - known.since < dayMs ? known : { since: now(), bytes: 0 };
    if (day.bytes + bytes > bytesADay) return false;
    day.bytes += bytes;
    days.set(owner, day);
    return true;
  };
};
