const dayMs = 24 * 3600 * 1000;

/** The day (UTC) so many days before today: `2026-01-31`. */
export const dayBefore = (days: number): string =>
  new Date(Date.now() - days * dayMs).toISOString().slice(0, 10);

/** The last days, the oldest first, those that a list leaves out with 0. */
export const fillDays = (
  days: number,
  items: readonly { day: string; value: number }[],
): { day: string; value: number }[] => {
  const values = new Map(items.map(({ day, value }) => [day, value]));
  return Array.from({ length: days }, (_, index) => {
    const day = dayBefore(days - 1 - index);
    return { day, value: values.get(day) ?? 0 };
  });
};
