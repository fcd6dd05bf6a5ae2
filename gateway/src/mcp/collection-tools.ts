import { ApiError, type CollectionShape, recordRoutes, undoRoutes } from '@backlot/contract';
import { z } from 'zod';
import { collection, defineTool, fits, type Tool, tooLarge, toQuery } from './tool.ts';

const control = (projectId: string) => `/api/platform/projects/${projectId}`;
const settings = (projectId: string, name: string) =>
  `${control(projectId)}/collections/${encodeURIComponent(name)}`;

export const describeProject = defineTool({
  name: 'describe_project',
  title: 'Describe the project',
  description:
    'The collections of the project with access, number of records, fields (types, share of records that have them, values of enumerations) from a sample, and the schema where the owner has set one. Call it before you name a field.',
  scope: 'read',
  isDestructive: false,
  input: z.strictObject({ collection: collection.optional().describe('Only this one') }),
  async run({ collection: name }, { projectId, baseUrl, call }) {
    const one = name === undefined ? '' : `/collections/${encodeURIComponent(name)}`;
    const shape = await call('GET', `${control(projectId)}${one}/shape`);
    const describe = (text: string) => `{"baseUrl":${JSON.stringify(baseUrl)},"shape":${text}}`;
    if (fits(describe(shape))) return describe(shape);
    const { collections = [] } = JSON.parse(shape) as { collections?: CollectionShape[] };
    const names = collections.map(({ name, access, count }) => ({ name, access, count }));
    const hint = 'Too much for one answer: ask for the fields of one "collection".';
    const overview = describe(JSON.stringify({ collections: names, hint }));
    if (names.length > 0 && fits(overview)) return overview;
    throw tooLarge('The collection has too many fields; "query" one record instead.');
  },
});

const setAccess = defineTool({
  name: 'set_access',
  title: 'Set who may do what in a collection',
  description:
    'Sets the access of a collection: the name of a preset, or rules in words. Makes the collection where it is missing.',
  scope: 'admin',
  isDestructive: true,
  input: z.strictObject({
    collection,
    access: recordRoutes.setCollectionAccess.body.shape.access.unwrap(),
  }),
  run: ({ collection: name, access }, { projectId, call }) =>
    call('PUT', settings(projectId, name), { access }),
});

const setSchema = defineTool({
  name: 'set_schema',
  title: 'Set what the records of a collection have to be',
  description:
    'Sets a JSON Schema (2020-12, a part of it: what does not hold is refused by name) that every write has to fit from now on; null removes it. Records from before stay as they are. "propose": true sets nothing and answers a schema that a sample of the records fits. Makes the collection where it is missing.',
  scope: 'admin',
  isDestructive: true,
  input: z.strictObject({
    collection,
    schema: recordRoutes.recordSchema.nullable().optional(),
    propose: z.boolean().optional(),
  }),
  async run({ collection: name, schema, propose }, { projectId, call }) {
    const at = settings(projectId, name);
    if (propose) return call('POST', `${at}/schema-from-records`);
    if (schema === undefined)
      throw new ApiError('invalid_body', 'Needs "schema", or "propose": true.');
    return call('PUT', at, { schema });
  },
});

const renameCollection = defineTool({
  name: 'rename_collection',
  title: 'Rename a collection',
  description:
    'Gives a collection another name. Apps that call it by the old one find nothing there, and rules that name it elsewhere stay as they are.',
  scope: 'admin',
  isDestructive: true,
  input: z.strictObject({ collection, name: collection.describe('The new one') }),
  run: ({ collection: from, name }, { projectId, call }) =>
    call('PATCH', settings(projectId, from), { name }),
});

const deleteCollection = defineTool({
  name: 'delete_collection',
  title: 'Delete a collection',
  description:
    'Deletes a collection with its settings and all of its records, or with "empty": true its records alone. Answers how many records it had, and until when restore_collection brings them back; null: never.',
  scope: 'admin',
  isDestructive: true,
  input: z.strictObject({
    collection,
    empty: z.boolean().optional().describe('The collection stays, with its settings'),
    dryRun: z.boolean().optional().describe('Only counts the records'),
  }),
  run: ({ collection: name, empty, dryRun }, { projectId, call }) =>
    call(
      'DELETE',
      settings(projectId, name) +
        toQuery({ empty: empty ? 1 : undefined, dryRun: dryRun ? 1 : undefined }),
    ),
});

const restoreCollection = defineTool({
  name: 'restore_collection',
  title: 'Bring a deleted collection back',
  description:
    'Brings back a collection that was deleted, or what one had that was emptied, with its settings. Without "collection" it lists those that can come back. Where the name is taken, give it another "name".',
  scope: 'admin',
  isDestructive: false,
  input: z.strictObject({
    collection: collection.optional(),
    ...undoRoutes.restoreCollection.body.shape,
  }),
  run: ({ collection: name, ...body }, { projectId, call }) =>
    name === undefined
      ? call('GET', `${control(projectId)}/trash/collections`)
      : call('POST', `${settings(projectId, name)}/restore`, body),
});

export const collectionTools: readonly Tool[] = [
  setAccess,
  setSchema,
  renameCollection,
  deleteCollection,
  restoreCollection,
];
