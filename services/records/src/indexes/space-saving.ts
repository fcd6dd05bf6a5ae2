/**
 * Which of many keys weigh most, from a bounded number that are remembered (Space-Saving; Metwally, Agrawal, El Abbadi
 * 2005): an unknown key takes the place of the lightest one and begins with its weight.
 * @param create what the key begins with, of at least the weight of what it replaces
 */
export const findOrReplace = <T extends { weight: number }>(
  items: Map<string, T>,
  most: number,
  key: string,
  create: (replaced: T | undefined) => T,
): T => {
  const known = items.get(key);
  if (known) return known;
  const replaced = items.size < most ? undefined : findLightest(items);
  if (replaced) items.delete(replaced.key);
  const item = create(replaced?.item);
  items.set(key, item);
  return item;
};

const findLightest = <T extends { weight: number }>(items: ReadonlyMap<string, T>) => {
  let lightest: { key: string; item: T } | undefined;
  for (const [key, item] of items)
    if (!lightest || item.weight < lightest.item.weight) lightest = { key, item };
  return lightest;
};
