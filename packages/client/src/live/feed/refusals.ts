import { pathBelow } from '../../path.ts';
import type { Transport } from '../../transport.ts';
import { type Failure, toKey, type Want } from './want.ts';

/** What was refused is asked for again after as long, then after twice as long, and so on up to an hour. */
const firstPauseMs = 30_000;
const maxPauseMs = 3_600_000;

/** Not worth another try: the call itself is refused. */
export const isRefusal = ({ status = 0 }: Failure): boolean =>
  status >= 400 && status < 500 && ![401, 408, 429].includes(status);

/** What of all that is wanted can not be watched. */
export const createRefusals = (
  transport: Transport,
  on: { refuse(key: string, error: Failure): void; allow(): void },
) => {
  const refused = new Map<string, Want>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let pauseMs = firstPauseMs;

  const call = ({ collection = '', channel, where }: Want) =>
    channel === undefined
      ? transport.call('GET', pathBelow('/db', collection, '_changes'), {
          query: { since: 'now', where },
        })
      : transport.call('GET', '/events/presence', { query: { channel } });
  const ask = (want: Want): Promise<Failure | undefined> =>
    call(want).then(
      () => undefined,
      (error: Failure) => error,
    );

  const askAgain = async () => {
    timer = undefined;
    for (const [key, want] of refused)
      if ((await ask(want)) === undefined) {
        refused.delete(key);
        on.allow();
      }
    later();
  };
  const later = () => {
    if (timer || refused.size === 0) return;
    timer = setTimeout(() => void askAgain(), pauseMs);
    pauseMs = Math.min(pauseMs * 2, maxPauseMs);
  };

  return {
    /** Finds out which of them are refused. @returns whether any is */
    async find(wants: readonly Want[]): Promise<boolean> {
      let isAny = false;
      for (const want of wants) {
        const error = await ask(want);
        if (error === undefined || !isRefusal(error)) continue;
        isAny = true;
        refused.set(toKey(want), want);
        on.refuse(toKey(want), error);
      }
      later();
      return isAny;
    },
    without: (wanted: ReadonlyMap<string, Want>): Want[] =>
      [...wanted].filter(([key]) => !refused.has(key)).map(([, want]) => want),
    close: () => clearTimeout(timer),
  };
};
