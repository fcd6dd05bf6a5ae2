/**
 * Takes a parameter out of a query, in each spelling of its name; undefined where it is not there.
 * @param search with its question mark, or empty
 */
export const takeFromSearch = (
  search: string,
  name: string,
): { values: string[]; search: string } | undefined => {
  const values: string[] = [];
  const rest = search
    .slice(1)
    .split('&')
    .filter((pair) => {
      const [found] = new URLSearchParams(`&${pair}`);
      if (found?.[0] !== name) return true;
      values.push(found[1]);
      return false;
    });
  if (values.length === 0) return undefined;
  return { values, search: rest.length > 0 ? `?${rest.join('&')}` : '' };
};
