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
  summary: 'Count records by fields and times, with sums, averages, extremes and different values',
  limit: 'read',
  params: inCollection,
  query: z.object({
    ...filter,
    group: z
      .string()
      .max(1024)
      .optional()
      .describe(
        'Up to 3 fields with commas between, also createdAt:day, :week and :month, as updatedAt; without it all records are one group',
      ),
    timeZone: z
      .string()
      .max(100)
      .optional()
      .describe('Of groups by time, such as Europe/Berlin; UTC unless stated'),
    sum: measured.describe('Up to 3 fields, of which the numbers count'),
    avg: measured.describe('Up to 3 fields, of which the numbers count'),
    min: measured.describe('Up to 3 fields: the least number, else the first of the strings'),
    max: measured.describe('Up to 3 fields: the largest number, else the last of the strings'),
    distinct: measured.describe('A field: how many different values it has, without null'),
    having: z
      .string()
      .max(8192)
      .optional()
      .describe(
        'The groups of which this holds, as `where` is written: {"count":{"$gt":1},"sum.price":{"$gte":100}}',
      ),
    sort: measured.describe(
      'Up to 3 of the groups’ fields, `count` and sums such as -sum.price; the largest groups first unless stated',
    ),
    explain,
  }),
  response: z.object({
    groups: z
      .array(
        z.object({
          group: z
            .unknown()
            .optional()
            .describe(
              'The value of the field, of several an array; null where it is missing; of a time the first day of its span: 2026-01-31',
            ),
          count: z.int().min(0),
          sum: measures,
          avg: measures,
          min: measures,
          max: measures,
          distinct: z.record(z.string(), z.int().min(0)).optional(),
        }),
      )
      .max(maxGroups)
      .describe('The largest first, unless `sort` says otherwise'),
    hint: missingHint,
    explain: explained,
  }),
  status: 200,
  errors: ['invalid_path', 'invalid_query', 'invalid_where', 'invalid_sort', 'query_too_expensive'],
});
