import { z } from 'zod';
import { uuid } from '../../../schemas.ts';

export const emptyHint = z
  .string()
  .optional()
  .describe('Why nothing fits the filter, perhaps; from a sample of what this caller may read');

export const missingHint = z
  .string()
  .optional()
  .describe('A field that was asked for and is in no record, and what it may have been');

/** Numbers as a browser sends them; `limit` above 1,000 is clamped. */
export const wholeNumber = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number of 0 or more')
  .meta({ type: 'integer', minimum: 0, pattern: undefined })
  .transform(Number);

const whereDescription = `JSON, a subset of MongoDB’s query language, at most 8 KB. All of its conditions hold: {"done":false,"rank":{"$gte":2}}
- $eq, $ne, $gt, $gte, $lt, $lte: {"n":{"$lt":5}}
- $in, $nin, of up to 100 values: {"tag":{"$in":["a","b"]}}
- $exists, $size, $all: {"tags":{"$all":["a","b"]}}
- $contains, $startsWith, $endsWith: {"title":{"$contains":"tea","$options":"i"}}
- $and, $or, $nor, $not: {"$or":[{"a":1},{"b":{"$not":{"$gt":5}}}]}
- paths have dots: {"address.city":"Rome"}
- records of a group: {"groupId":"<id>"}`;

export const filter = {
  where: z.string().optional().describe(whereDescription),
  mine: z
    .enum(['1', '0', 'true', 'false', ''])
    .optional()
    .describe('1: only the caller’s own records'),
  group: uuid.optional().describe('Only records of this group'),
};

export const search = z
  .string()
  .max(200)
  .optional()
  .describe('Up to 10 words that a record has to have, in a collection that can be searched');
