import { z } from 'zod';
import { idInPath, recordUpTo, timestamp, uuid } from '../../../schemas.ts';

/** docs/api.md, "Records". */
const nameRule = 'must be 1-63 of A-Z, a-z, 0-9, _ and -, starting with a letter';
const belowCollection = /^_(batch|count|aggregate|changes|export|import)$/;

export const collectionName = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,62}$/, {
  error: ({ input }) =>
    belowCollection.test(String(input))
      ? `${nameRule}: ${input} stands behind one, /db/<collection>/${input}`
      : nameRule,
});

export const record = z
  .looseObject({
    id: uuid,
    ownerId: uuid.nullable(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'StoredRecord' });

export const shownRecord = z
  .looseObject({ id: uuid })
  .meta({ id: 'PartialRecord', description: 'A record, or what `fields` names of it' });

/** What `data` may hold in depth is the record service's rule. */
export const data = z.record(z.string(), z.unknown(), {
  error: ({ input }) =>
    Array.isArray(input)
      ? 'must be one object; many go to POST /db/<collection>/_batch {"create":[{"data":{"title":"x"}}]}'
      : 'must be an object, as in {"data":{"title":"x"}}',
});
export const groupId = uuid
  .optional()
  .describe('A group of the caller’s, where the rules of the collection name groups');
export const base = {
  service: 'records',
  plane: 'runtime',
  callers: ['anonymous', 'user', 'owner', 'key', 'operator'],
} as const;
export const inCollection = z.object({ collection: collectionName });
export const oneRecord = z.object({ collection: collectionName, id: idInPath });

export const shown = {
  fields: z
    .string()
    .max(4096)
    .optional()
    .describe('Shows these fields and the id alone: title,done'),
  include: z
    .string()
    .max(512)
    .optional()
    .describe(
      'Shows records of other collections in place of their ids, one level deep: authorId, or author:people',
    ),
};

export const change = z.object({
  data: data.optional(),
  unset: z.array(z.string().min(1)).max(1024).optional(),
  inc: recordUpTo(1024, z.record(z.string(), z.number())).optional(),
});
export const changesSomething = ({ data, unset, inc }: z.infer<typeof change>) =>
  Boolean(data || unset || inc);
export const needsChange = 'needs "data", "unset" or "inc", as in {"data":{"done":true}}';
