export type Query = Record<string, unknown>;

/** Query parameters as a client sends them. */
export const search = (query: Query): string => {
  const pairs = Object.entries(query).map(([key, value]) => [
    key,
    typeof value === 'object' ? JSON.stringify(value) : String(value),
  ]);
  return new URLSearchParams(pairs as [string, string][]).toString();
};
