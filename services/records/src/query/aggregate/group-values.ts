import { isSystemField } from '../../fields.ts';
import { isoTimeSql, type Parameters } from '../../sql.ts';
import { dataValueSql } from '../sort.ts';
import type { Aggregation } from './aggregation.ts';
import type { GroupField } from './group-fields.ts';

/** Larger values make no group, and longer strings are no minimum. */
export const maxGroupBytes = 512;
/** Of a value as PostgreSQL keeps it: whether a larger one is too long is asked of each record, not of its group. */
const usualGroupBytes = 600;
const maxTextLength = 200;
/** A longer value of which the different ones are counted is known by its hash, which has more than these itself. */
const maxDistinctBytes = 32;

const systemValueSql = {
  id: 'to_jsonb(id::text)',
  ownerId: 'to_jsonb(owner_id::text)',
  createdAt: `to_jsonb(${isoTimeSql('created_at')})`,
  updatedAt: `to_jsonb(${isoTimeSql('updated_at')})`,
};

const valueSql = (field: string, { knowsGroups }: Aggregation, parameters: Parameters): string => {
  if (knowsGroups && field === 'groupId') return 'to_jsonb(group_id::text)';
  return isSystemField(field) ? systemValueSql[field] : dataValueSql(field, parameters);
};

const timeColumns: Readonly<Record<string, string>> = {
  createdAt: 'created_at',
  updatedAt: 'updated_at',
};

/** The first day of the span in which the time lies, there. */
const spanSql = ({ field, span }: GroupField, timeZone: string, parameters: Parameters): string => {
  const local = `${timeColumns[field]} AT TIME ZONE ${parameters.add(timeZone, 'text')}`;
  return `to_jsonb(to_char(date_trunc('${span}', ${local}), 'YYYY-MM-DD'))`;
};

/**
 * The values to group by, `vg0` and so on, those of the fields, `v0` and so on, and `vd`, of which the different ones
 * are counted, over the columns of `records`.
 */
export const valuesSql = (aggregation: Aggregation, parameters: Parameters): [string, string][] => {
  const { groups, timeZone, fields, distinct } = aggregation;
  const value = (field: string) => valueSql(field, aggregation, parameters);
  return [
    ...groups.map((group, i): [string, string] => [
      `vg${i}`,
      group.span ? spanSql(group, timeZone, parameters) : value(group.field),
    ]),
    ...fields.map((field, i): [string, string] => [`v${i}`, value(field)]),
    ...(distinct === undefined ? [] : [['vd', value(distinct)] as [string, string]]),
  ];
};

/** Null for a value that is too long to make a group. */
const partSql = (i: number): string =>
  `CASE WHEN pg_column_size(vg${i}) > ${usualGroupBytes}
    THEN CASE WHEN octet_length(vg${i}::text) <= ${maxGroupBytes} THEN vg${i} END ELSE coalesce(vg${i}, 'null') END`;

/** Null where a part of it is too long. */
export const groupKeySql = ({ groups }: Aggregation): string => {
  if (groups.length === 0) return `'null'::jsonb`;
  if (groups.length === 1) return partSql(0);
  const parts = groups.map((_, i) => `g${i}`).join(', ');
  const made = groups.map((_, i) => `${partSql(i)} AS g${i}`).join(', ');
  return `(SELECT CASE num_nulls(${parts}) WHEN 0 THEN jsonb_build_array(${parts}) END FROM (SELECT ${made} OFFSET 0) parts)`;
};

/** Null where there is no value. */
export const distinctKeySql = `(SELECT CASE WHEN octet_length(t) <= ${maxDistinctBytes} THEN nullif(vd, 'null') ELSE to_jsonb(md5(t)) END
    FROM (SELECT vd::text AS t OFFSET 0) text)`;

/** Whether strings count: as a minimum or maximum, or to tell that the field is there. */
export const hasExtremes = ({ measures }: Aggregation, field: string): boolean =>
  measures.some((measure) => measure.field === field && /^(min|max)$/.test(measure.name));

/** What is kept of a field: its numbers, and its strings; where nobody asks for these, that there are some. */
export const keptSql = (aggregation: Aggregation, field: string, i: number): [string, string] => {
  const text = `v${i} #>> '{}'`;
  return [
    `CASE jsonb_typeof(v${i}) WHEN 'number' THEN v${i}::numeric END AS n${i}`,
    hasExtremes(aggregation, field)
      ? `CASE WHEN jsonb_typeof(v${i}) = 'string' AND length(${text}) <= ${maxTextLength} THEN ${text} END AS t${i}`
      : `CASE jsonb_typeof(v${i}) WHEN 'string' THEN '' END AS t${i}`,
  ];
};
