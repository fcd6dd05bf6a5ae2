import type { Fields } from '../../values.ts';

/** What a list has to be told of, or who listens to a channel. */
export interface Want {
  collection?: string;
  where?: Fields;
  channel?: string;
  /** What is said there of being there; without it nothing. */
  presence?: Fields;
}

export interface Failure extends Error {
  status?: number;
  retryAfterSeconds?: number | undefined;
}

export const toKey = ({ collection, channel, where = {} }: Want): string =>
  JSON.stringify(channel === undefined ? [collection, where] : [channel]);

/** Each once; of those for a channel the last one that says something of being there. */
export const joinWants = (wants: readonly Want[]): Map<string, Want> => {
  const joined = new Map<string, Want>();
  for (const want of wants) {
    const key = toKey(want);
    if (want.presence || !joined.has(key)) joined.set(key, want);
  }
  return joined;
};
