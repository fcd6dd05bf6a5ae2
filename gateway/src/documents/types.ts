import type { CollectionShape, FieldType } from '@backlot/contract';
import { describeAccess, type FieldNode, toFieldTree, typeNames } from './field-tree.ts';
import { readSchema } from './schema-fields.ts';
import { asKey, typeFromSchema } from './schema-types.ts';

const dictionary = '{ [name: string]: unknown }';

/** Other values than those of the sample are allowed: editors still offer the ones that it has. */
const stringType = (values: readonly string[] | undefined) =>
  values
    ? [...values.map((value) => JSON.stringify(value)), '(string & {})'].join(' | ')
    : 'string';

const objectType = (below: readonly FieldNode[], indent: string): string => {
  if (below.length === 0) return dictionary;
  const inner = `${indent}  `;
  const lines = below.map((node) => `${inner}${describeField(node, inner)}`);
  return `{\n${lines.join('\n')}\n${indent}}`;
};

const describeTypes = (
  types: readonly FieldType[],
  { field, below }: FieldNode,
  indent: string,
): string =>
  types
    .map((type) => {
      if (type === 'string') return stringType(field.values);
      if (type === 'object') return objectType(below, indent);
      if (type !== 'array') return type;
      const items = field.itemTypes?.filter((item) => item !== 'array') ?? [];
      if (items.length === 0) return 'unknown[]';
      return `(${describeTypes(items, { name: '', field, below }, indent)})[]`;
    })
    .join(' | ');

/** Null comes and goes: what was null in all of the sample may be anything. */
const describeField = (node: FieldNode, indent: string): string => {
  const { types, share } = node.field;
  const isOnlyNull = types.every((type) => type === 'null');
  const type = isOnlyNull ? 'unknown' : describeTypes(types, node, indent);
  return `${asKey(node.name)}${share < 1 ? '?' : ''}: ${type};`;
};

/** The collections of a project as TypeScript: `createClient<Project>(…)` of @backlot/client takes it. */
export const describeCollectionTypes = (
  baseUrl: string,
  collections: readonly CollectionShape[],
): string => {
  const names = typeNames(collections, ['Project']);
  const entries = collections.map(
    (collection) =>
      `  /** ${describeAccess(collection)}, ${collection.count} records */\n  ${asKey(collection.name)}: ${names.get(collection.name)};`,
  );
  const interfaces = collections.map((collection) => {
    const tree = toFieldTree(collection);
    const name = names.get(collection.name);
    const schema = readSchema(collection);
    if (schema)
      return `/** As its schema says. */\nexport type ${name} = ${typeFromSchema({ ...schema, type: 'object' }, '')};`;
    return tree.length === 0
      ? `export type ${name} = ${dictionary};`
      : `export interface ${name} ${objectType(tree, '')}`;
  });
  return `// The collections of ${baseUrl}, as their schemas say, or a sample of their records shows.
// A record has id, ownerId, createdAt and updatedAt besides, which createClient<Project>() adds.

export interface Project {
${entries.join('\n')}
}
${interfaces.map((text) => `\n${text}\n`).join('')}`;
};
