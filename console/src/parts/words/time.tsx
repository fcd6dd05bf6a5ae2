import { useSyncExternalStore } from 'react';

const steps: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, ms: number])[] = [
  ['year', 31_536_000_000],
  ['month', 2_592_000_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'long' });

const minuteMs = 60_000;

/** "3 minutes ago"; what is to come is rounded, so that seven days are not "in 6 days" a second later. @param ms epoch milliseconds, both */
export const sinceWords = (ms: number, now: number): string => {
  const isToCome = ms > now;
  const apart = isToCome ? Math.round((ms - now) / minuteMs) * minuteMs : ms - now;
  const step = steps.find(([, size]) => Math.abs(apart) >= size);
  if (!step) return 'just now';
  return relative.format((isToCome ? Math.round : Math.trunc)(apart / step[1]), step[0]);
};

/** In the viewer's zone, to the second, with the zone's name. */
export const exactWords = (at: string): string => exact.format(new Date(at));

const tickMs = 30_000;
const readTick = () => Math.floor(Date.now() / tickMs) * tickMs;
const subscribe = (onTick: () => void) => {
  const timer = setInterval(onTick, tickMs);
  return () => clearInterval(timer);
};

/** How long ago; the exact time in the viewer's zone on hover. @param at ISO 8601 */
export const Time = ({ at }: { at: string | null | undefined }) => {
  useSyncExternalStore(subscribe, readTick);
  const ms = Date.parse(at ?? '');
  if (!at || Number.isNaN(ms)) return <span className="quiet-text">never</span>;
  return (
    <time dateTime={at} title={exactWords(at)}>
      {sinceWords(ms, Date.now())}
    </time>
  );
};
