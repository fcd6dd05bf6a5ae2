import { ApiError } from '@backlot/contract';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** How long a period is, how long its rows are kept, and over how long a time they are added up. docs/limits.md. */
export const steps = {
  minutes: { ms: 5 * minuteMs, keptMs: 6 * hourMs, longestMs: 3 * hourMs },
  hours: { ms: hourMs, keptMs: 9 * dayMs, longestMs: 48 * hourMs },
  days: { ms: dayMs, keptMs: 90 * dayMs, longestMs: 90 * dayMs },
} as const;
export type Step = keyof typeof steps;
export const stepNames = Object.keys(steps) as Step[];

/** Networks are kept no longer. */
export const networksKeptMs = 9 * dayMs;

export interface Span {
  step: Step;
  /** Epoch milliseconds, of whole periods. */
  from: number;
  until: number;
}

/** The finest periods that there are for this time, as many as it takes. @throws ApiError invalid_query */
export const chooseSpan = (
  asked: { from?: string | undefined; to?: string | undefined },
  now: number,
): Span => {
  const until = asked.to === undefined ? now : Math.min(Date.parse(asked.to), now);
  const from = asked.from === undefined ? until - hourMs : Date.parse(asked.from);
  if (from >= until)
    throw new ApiError('invalid_query', '"from" must lie before "to", and before now.');
  const step = stepNames.find(
    (name) => until - from <= steps[name].longestMs && from >= now - steps[name].keptMs,
  );
  if (!step)
    throw new ApiError(
      'invalid_query',
      'Calls are added up for the last 90 days, no further back.',
    );
  const { ms } = steps[step];
  return { step, from: Math.floor(from / ms) * ms, until: Math.ceil(until / ms) * ms };
};
