import { type Fields, type Item, isObject, type Value } from '../../values.ts';

/** Ids that a list shows as what they name, as far as what it shows already tells. */
export const createIncludes = (include: string | undefined) => {
  const fields = (include ?? '')
    .split(',')
    .map((part) => part.split(':')[0]?.trim() ?? '')
    .filter((name) => name !== '');
  const known = new Map<string, Fields>();
  const toKey = (field: string, id: Value) => `${field} ${id}`;
  const each = (value: Value): Value[] => (Array.isArray(value) ? value : [value]);

  const toId = (value: Value): Value => (isObject(value) ? value.id : value);

  return {
    /** The record with ids, as filters know it. */
    strip(record: Item): Item {
      const plain = { ...record };
      for (const field of fields) {
        const value = record[field];
        if (value !== undefined)
          plain[field] = Array.isArray(value) ? value.map(toId) : toId(value);
      }
      return plain;
    },
    learn(items: readonly Item[]) {
      known.clear();
      for (const item of items)
        for (const field of fields)
          for (const value of each(item[field]))
            if (isObject(value)) known.set(toKey(field, value.id), value);
    },
    /** The record as the list shows it; undefined where the server has to be asked. */
    fill(record: Item): Item | undefined {
      const filled = { ...record };
      for (const field of fields) {
        if (record[field] === undefined) continue;
        const ids = each(record[field]);
        const found = ids.map((id) => (typeof id === 'string' ? known.get(toKey(field, id)) : id));
        if (found.includes(undefined)) return undefined;
        filled[field] = Array.isArray(record[field]) ? found : found[0];
      }
      return filled;
    },
  };
};
