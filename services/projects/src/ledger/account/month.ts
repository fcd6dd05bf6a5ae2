/** A calendar month in UTC, such as `2026-11`; months compare as text. */
export type Month = string;

export const toMonth = (timeMs: number): Month => new Date(timeMs).toISOString().slice(0, 7);

const monthStartTime = (month: Month, monthsLater: number): number => {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return Date.UTC(year, number - 1 + monthsLater);
};
export const monthStart = (month: Month): number => monthStartTime(month, 0);
/** The first instant that is no longer in it. */
export const monthEnd = (month: Month): number => monthStartTime(month, 1);
