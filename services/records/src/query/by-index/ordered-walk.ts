import { isInTime } from '../list-statement.ts';
import { directionSql } from '../sort.ts';
import {
  type Branch,
  type Found,
  fitsSql,
  isCutKeySql,
  jsonb,
  lookedAtSql,
  pointKey,
  toBranches,
  type Walk,
  walkedSql,
} from './branches.ts';
import type { Driver } from './drivers.ts';
import { isWholeKey, keyOfText, mayHaveCutKeys } from './key-ranges.ts';

/** The slot's order is the list's, but for long texts that share a key. */
export const orderedWalk = (walk: Walk, driver: Driver): Found => {
  const { query, parameters, most, rows } = walk;
  const { sort, after } = query;
  const afterKey = sort.fields.length > 0 ? after?.keys[0] : undefined;
  const isAmongTexts = afterKey && (afterKey.isCut || !isWholeKey(JSON.parse(afterKey.text)));
  const sign = sort.idDescending ? '<' : '>';
  const direction = directionSql(sort.idDescending);
  const branches = toBranches(query, driver, parameters, (column, range) => {
    if (isAmongTexts) return `${column} ${sign}= ${jsonb(keyOfText(afterKey.text), parameters)}`;
    const key = afterKey?.text ?? pointKey(range);
    if (!after || !key) return undefined;
    return `(${column}, id) ${sign} (${jsonb(key, parameters)}, ${parameters.add(after.id, 'uuid')})`;
  });
  const tests = [...walk.tests, isAmongTexts ? walk.position() : undefined];
  const walkSql = (branch: Branch) =>
    `${walkedSql(walk, branch, `ORDER BY ${branch.column} ${direction}, id ${direction}`)}
      WHERE ${fitsSql([branch.isNew, ...tests])}`;
  const isCutShort = (branch: Branch) =>
    `(${lookedAtSql(branch, rows)} > ${rows} OR NOT ${isInTime})`;
  const found = branches.map((branch, i) => {
    const text = `${walkSql(branch)} ORDER BY slot_key ${direction}, id ${direction} LIMIT ${most}`;
    const isShort = (name: string) =>
      `((SELECT count(*) FROM ${name}) < ${most} AND ${isCutShort(branch)})`;
    if (sort.fields.length === 0 || !mayHaveCutKeys(branch.range))
      return { tables: [`b${i} AS MATERIALIZED (${text})`], isShort: [isShort(`b${i}`)] };
    const { column, where } = branch;
    // Of the texts that share the last key the walk has seen those with the first ids.
    const last = `(SELECT slot_key FROM last${i})`;
    const tied = { ...branch, where: `${where} AND ${column} >= ${last} AND ${column} <= ${last}` };
    return {
      tables: [
        `walked${i} AS MATERIALIZED (${text})`,
        `last${i} AS MATERIALIZED (SELECT slot_key FROM (SELECT slot_key FROM walked${i}
          ORDER BY slot_key ${directionSql(!sort.idDescending)} LIMIT 1) last WHERE ${isCutKeySql})`,
        `b${i} AS MATERIALIZED (SELECT * FROM walked${i} WHERE slot_key IS DISTINCT FROM ${last}
          UNION ALL ${walkSql(tied)})`,
      ],
      isShort: [isShort(`walked${i}`), `(${last} IS NOT NULL AND ${isCutShort(tied)})`],
    };
  });
  return {
    tables: found.flatMap(({ tables }) => tables),
    names: branches.map((_, i) => `b${i}`),
    isShort: found.flatMap(({ isShort }) => isShort),
  };
};
