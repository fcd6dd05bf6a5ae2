import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { explain, explained } from './schemas/explained.ts';
import { base, inCollection } from './schemas/record-schemas.ts';
import { filter, missingHint } from './schemas/where-parameter.ts';

const measured = z.string().max(1024).optional();

const measures = z.record(z.string(), z.union([z.number(), z.string(), z.null()])).optional();

/** docs/api.md, "Groups and sums". */
export const maxGroups = 1000;

export const aggregateRecords = defineRoute({
  ...base,
  operationId: 'aggregateRecords',
  tellsPlan: true,
  method: 'GET',
  path: '/db/:collection/_aggregate',
  summary: 'Count records by a field, with sums, averages and extremes of others',
  limit: 'read',
  params: inCollection,
  query: z.object({
    ...filter,
    group: z
      .string()
      .max(1024)
      .optional()
      .describe('A field; without it all records are one group'),
    sum: measured.describe('Up to 3 fields, of which the numbers count'),
    avg: measured.describe('Up to 3 fields, of which the numbers count'),
    min: measured.describe('Up to 3 fields: the least number, else the first of the strings'),
    max: measured.describe('Up to 3 fields: the largest number, else the last of the strings'),
    explain,
  }),
  response: z.object({
    groups: z
      .array(
        z.object({
          group: z
            .unknown()
            .optional()
            .describe('The value of the field; null where it is missing'),
          count: z.int().min(0),
          sum: measures,
          avg: measures,
          min: measures,
          max: measures,
        }),
      )
      .max(maxGroups)
      .describe('The largest first'),
    hint: missingHint,
    explain: explained,
  }),
  status: 200,
  errors: ['invalid_path', 'invalid_query', 'invalid_where', 'query_too_expensive'],
});
