import { ApiError, type CollectionShape, recordRoutes } from '@backlot/contract';
import { z } from 'zod';
import { defineTool, maxAnswerBytes, type Tool } from './tool.ts';

const maxRecords = 200;
const usualRecords = 50;

const collection = z.string().min(1).max(63).describe('Name of the collection');
const id = z.uuid().describe('Of the record');
const document = z.record(z.string(), z.unknown());
const where = document
  .optional()
  .describe('A filter in MongoDB’s language, such as {"status": "open", "price": {"$gte": 5}}');

const db = (projectId: string, name: string) =>
  `/api/runtime/${projectId}/db/${encodeURIComponent(name)}`;
const control = (projectId: string) => `/api/platform/projects/${projectId}`;

const toQuery = (parameters: Record<string, string | number | undefined>): string => {
  const given = Object.entries(parameters).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
};

const fits = (text: string) => Buffer.byteLength(text) <= maxAnswerBytes;

const tooLarge = (hint: string) =>
  new ApiError('query_too_expensive', `The answer has more than ${maxAnswerBytes / 1024} KiB.`, {
    hint,
  });

/** How many records fit; PostgreSQL writes them with more spaces than JSON.stringify does. */
const countFitting = (page: string): number => {
  const { items } = JSON.parse(page) as { items: unknown[] };
  let bytes = 0;
  const tooMany = items.findIndex((item) => {
    bytes += Buffer.byteLength(JSON.stringify(item)) * 1.25;
    return bytes > maxAnswerBytes;
  });
  return tooMany === -1 ? items.length : tooMany;
};

const describeProject = defineTool({
  name: 'describe_project',
  title: 'Describe the project',
  description:
    'The collections of the project with access, number of records and fields (types, share of records that have them, values of enumerations), from a sample. Call it before you name a field.',
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

const query = defineTool({
  name: 'query',
  title: 'List records',
  description: `Records of a collection, newest first unless "sort" says otherwise. At most ${maxRecords}, and ${maxAnswerBytes / 1024} KB; "nextCursor" goes on. Where nothing is found a "hint" may say why.`,
  scope: 'read',
  isDestructive: false,
  input: z.strictObject({
    collection,
    where,
    search: z.string().optional().describe('Words, where the owner has switched search on'),
    sort: z.string().optional().describe('Up to 3 fields with commas, "-" before one descends'),
    limit: z.int().min(1).max(maxRecords).default(usualRecords),
    cursor: z.string().optional().describe('The "nextCursor" of the page before'),
    fields: z.array(z.string()).min(1).max(50).optional().describe('Only these fields'),
    include: z.string().optional().describe('Ids to resolve, such as "authorId:people"'),
  }),
  async run({ collection: name, where: filter, limit, fields, ...rest }, { projectId, call }) {
    const list = (count: number) =>
      call(
        'GET',
        db(projectId, name) +
          toQuery({
            ...rest,
            where: filter && JSON.stringify(filter),
            limit: count,
            fields: fields?.join(','),
          }),
      );
    const page = await list(limit);
    if (fits(page)) return page;
    const fitting = countFitting(page);
    const shorter = fitting === 0 ? undefined : await list(fitting);
    if (shorter !== undefined && fits(shorter)) return shorter;
    throw tooLarge('Name the "fields" that you need.');
  },
});

const count = defineTool({
  name: 'count',
  title: 'Count records',
  description: 'How many records of a collection fit a filter.',
  scope: 'read',
  isDestructive: false,
  input: z.strictObject({ collection, where }),
  run: ({ collection: name, where: filter }, { projectId, call }) =>
    call(
      'GET',
      `${db(projectId, name)}/_count${toQuery({ where: filter && JSON.stringify(filter) })}`,
    ),
});

const write = defineTool({
  name: 'write',
  title: 'Create or change a record',
  description:
    'Without "id" creates a record with "data". With "id" sets the fields of "data", removes those of "unset" and adds "inc" to numbers; other fields stay.',
  scope: 'write',
  isDestructive: true,
  input: z.strictObject({
    collection,
    id: id.optional(),
    data: document.optional(),
    unset: z.array(z.string()).optional(),
    inc: z.record(z.string(), z.number()).optional(),
  }),
  run({ collection: name, id: recordId, ...changes }, { projectId, call }) {
    if (recordId !== undefined) return call('PATCH', `${db(projectId, name)}/${recordId}`, changes);
    if (changes.unset || changes.inc)
      throw new ApiError('invalid_body', '"unset" and "inc" change a record: name its "id".');
    return call('POST', db(projectId, name), changes);
  },
});

const remove = defineTool({
  name: 'delete',
  title: 'Delete a record',
  description: 'Deletes one record. It can not be brought back.',
  scope: 'write',
  isDestructive: true,
  input: z.strictObject({ collection, id }),
  run: ({ collection: name, id: recordId }, { projectId, call }) =>
    call('DELETE', `${db(projectId, name)}/${recordId}`),
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
    call('PUT', `${control(projectId)}/collections/${encodeURIComponent(name)}`, { access }),
});

/** From reading to what changes most. */
export const tools: readonly Tool[] = [describeProject, query, count, write, remove, setAccess];
