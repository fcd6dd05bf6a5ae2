import type { CollectionShape, FieldShape } from '@backlot/contract';

/** A field with those below it, of its objects or of the objects in its arrays. */
export interface FieldNode {
  name: string;
  field: FieldShape;
  below: FieldNode[];
}

/** The fields of a collection as a tree: a shape lists each field before those below it. */
export const toFieldTree = ({ fields }: CollectionShape): FieldNode[] => {
  const nodes = new Map<string, FieldNode>();
  const top: FieldNode[] = [];
  for (const field of fields) {
    const dot = field.path.lastIndexOf('.');
    const node = { name: field.path.slice(dot + 1), field, below: [] };
    nodes.set(field.path, node);
    if (dot < 0) top.push(node);
    else nodes.get(field.path.slice(0, dot))?.below.push(node);
  }
  return top;
};

/** What descriptions put behind the name of a collection's type. */
const endings = ['', 'Data', 'Page', 'Request', 'Change'];

/** A name in PascalCase for each collection, no two alike, whatever description puts behind them. */
export const typeNames = (
  collections: readonly CollectionShape[],
  taken: readonly string[] = [],
): Map<string, string> => {
  const used = new Set(taken);
  const names = new Map<string, string>();
  for (const { name } of collections) {
    const pascal = name
      .split(/[_-]+/)
      .map((part) => part.slice(0, 1).toUpperCase() + part.slice(1))
      .join('');
    let unique = pascal;
    for (let n = 2; endings.some((ending) => used.has(unique + ending)); n++)
      unique = `${pascal}${n}`;
    for (const ending of endings) used.add(unique + ending);
    names.set(name, unique);
  }
  return names;
};

/** Rules hold names and conditions of their own: they are left to the listing of collections. */
export const describeAccess = ({ access }: CollectionShape): string =>
  typeof access === 'string' ? access : 'rules of its own';
