/** How many days the figures are of. */
export const periods = [7, 30, 90] as const;
export type Period = (typeof periods)[number];

export interface UsageSearch {
  days?: Period;
  /** operationId: what calls of it used, by day. */
  route?: string;
}

export const toSearch = ({ days, route }: Record<string, unknown>): UsageSearch => {
  const period = periods.find((one) => one === Number(days));
  return {
    ...(period && { days: period }),
    ...(/^[A-Za-z]{1,64}$/.test(String(route ?? '')) && { route: String(route) }),
  };
};
