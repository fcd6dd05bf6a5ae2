import { ApiError } from '@backlot/contract';
import { z } from 'zod';
import {
  collection,
  defineTool,
  fits,
  inCollection,
  maxAnswerBytes,
  type Tool,
  tooLarge,
  toQuery,
} from './tool.ts';

const maxRecords = 200;
const usualRecords = 50;

const id = z.uuid().describe('Of the record');
const document = z.record(z.string(), z.unknown());
const where = document
  .optional()
  .describe('A filter in MongoDB’s language, such as {"status": "open", "price": {"$gte": 5}}');

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
        inCollection(projectId, name) +
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
      `${inCollection(projectId, name)}/_count${toQuery({ where: filter && JSON.stringify(filter) })}`,
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
    if (recordId !== undefined)
      return call('PATCH', `${inCollection(projectId, name)}/${recordId}`, changes);
    if (changes.unset || changes.inc)
      throw new ApiError('invalid_body', '"unset" and "inc" change a record: name its "id".');
    return call('POST', inCollection(projectId, name), changes);
  },
});

const remove = defineTool({
  name: 'delete',
  title: 'Delete a record',
  description: 'Deletes one record. For some days "undo" brings it back.',
  scope: 'write',
  isDestructive: true,
  input: z.strictObject({ collection, id }),
  run: ({ collection: name, id: recordId }, { projectId, call }) =>
    call('DELETE', `${inCollection(projectId, name)}/${recordId}`),
});

const deleteMatching = defineTool({
  name: 'delete_matching',
  title: 'Delete the records that fit a filter',
  description:
    'With "dryRun": true only counts them: do that first. With false they are gone; for some days "undo" brings them back. A call deletes for 5 seconds at most; where "hasMore" is true, the same call with "cursor" goes on.',
  scope: 'write',
  isDestructive: true,
  input: z.strictObject({
    collection,
    where: where.unwrap(),
    dryRun: z.boolean(),
    cursor: z.string().optional().describe('The "nextCursor" of the call before'),
  }),
  run({ collection: name, where: filter, dryRun, cursor }, { projectId, call }) {
    const query = toQuery({
      where: JSON.stringify(filter),
      dryRun: dryRun ? 1 : undefined,
      cursor,
    });
    return call('DELETE', inCollection(projectId, name) + query);
  },
});

export const recordTools: readonly Tool[] = [query, count, write, remove, deleteMatching];
