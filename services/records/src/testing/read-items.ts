import type { ListPage } from '../list/lists.ts';

/** The records of a page; takes all parts of a large one. */
export const readItems = async <Item>({ items }: ListPage): Promise<Item[]> => {
  if (typeof items === 'string') return JSON.parse(items);
  const parts: string[] = [];
  for (let part = await items.next(); part !== undefined; part = await items.next()) {
    parts.push(part.toString());
  }
  items.close();
  return JSON.parse(`[${parts.join(',')}]`);
};
