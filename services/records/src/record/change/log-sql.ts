import { nobody } from '@backlot/contract';
import { noSide, type SideSql } from '../../collections/stored/side-sql.ts';
import { platformSource, type Source } from '../../source.ts';
import { insertFromSql, type Parameters } from '../../sql.ts';
import { toIso } from '../../timestamps.ts';
import type { Change } from './change.ts';

/** How many tables the log has, each for a day; migrations/0038_changes.sql. */
export const logSlots = 14;
export const dayMs = 24 * 60 * 60 * 1000;

/** Which of them has the changes of a time. */
export const logSlot = (nowMs: number): number => Math.floor(nowMs / dayMs) % logSlots;

/** Of each record, in columns of `changed`: what there was, and the version that it has or had last. */
const returnedSql = {
  create: ', updated_at AS version_at',
  update:
    ', old.data AS old_data, old.owner_id AS old_owner, old.group_id AS old_group, old.updated_at AS old_updated_at, old.size_bytes AS old_size, new.updated_at AS version_at',
  delete:
    ', data AS old_data, owner_id AS old_owner, group_id AS old_group, updated_at AS old_updated_at, size_bytes AS old_size, updated_at AS version_at',
};

const oldColumns = ['old_data', 'old_owner', 'old_group', 'old_updated_at', 'old_size'] as const;
const kinds = { create: 'c', update: 'u', delete: 'd' } as const;

/** Of what was changed in a record: not that it was made, nor that others have shares of it. */
export const bringsBackSql = (table: string): string =>
  `${table}.kind <> 'c' AND ${table}.kind <> 's'`;

/**
 * A table that tells the log whose shares of records have begun or ended; one entry a record.
 * @param from table with `coll_id`, `record_id` and `user_id`, of the project `$1`
 * @param hasEnded then with what the record is, for those who do not see it any more
 */
export const logSharesSql = (from: string, hasEnded: boolean): string => {
  const columns = {
    slot: `(floor(extract(epoch FROM clock_timestamp()) / 86400)::int8 % ${logSlots})::int2`,
    project_id: 'records.project_id',
    coll_id: 'records.coll_id',
    record_id: 'records.id',
    xid: 'records.change_xid(records.id)',
    seq: 'records.change_seq(records.id)',
    kind: `'s'::"char"`,
    changed_at: 'greatest(records.updated_at, clock_timestamp())',
    actor: `'${platformSource.actor}'`,
    ...(hasEnded && {
      old_data: 'records.data',
      old_owner: 'records.owner_id',
      old_group: 'records.group_id',
      old_updated_at: 'records.updated_at',
      old_size: 'records.size_bytes',
    }),
    old_shares: 'whose.users',
  };
  return `INSERT INTO changes (${Object.keys(columns).join(', ')}) SELECT ${Object.values(columns).join(', ')}
    FROM (SELECT coll_id, record_id, array_agg(user_id) AS users FROM ${from} WHERE user_id <> '${nobody}' GROUP BY 1, 2) whose
      JOIN records ON records.project_id = $1 AND records.coll_id = whose.coll_id AND records.id = whose.record_id
      JOIN collections logged ON logged.project_id = $1 AND logged.coll_id = whose.coll_id AND logged.history`;
};

const isSeveral = (source: Source | readonly Source[]): source is readonly Source[] =>
  Array.isArray(source);

/** Who makes it: an expression for each, and a table where they differ by record. */
const sourceSql = (change: Change, parameters: Parameters) => {
  const { source = platformSource } = change;
  if (!isSeveral(source))
    return {
      actor: parameters.add(source.actor, 'text'),
      requestId: parameters.add(source.requestId, 'text'),
    };
  const list = (value: (one: Source) => string | null) =>
    parameters.add(source.map(value), 'text[]');
  const lists = `${list(({ actor }) => actor)}, ${list(({ requestId }) => requestId)}`;
  return {
    actor: 'source.actor',
    requestId: 'source.request_id',
    table: ` JOIN unnest($3::uuid[], ${lists}) source(row_id, actor, request_id) ON source.row_id = changed.id`,
  };
};

const sharesTable = ` LEFT JOIN (SELECT record_id, array_agg(user_id) AS users FROM unshared WHERE user_id IS NOT NULL GROUP BY 1) lost ON lost.record_id = changed.id`;

/**
 * Writes the log: docs/decisions/0042.
 * @param hasShares whether the statement has the table `unshared` of a deletion
 */
export const logSql = (change: Change, hasShares: boolean, parameters: Parameters): SideSql => {
  if (change.collection.hasHistory === false) return noSide;
  const { kind } = change;
  const { actor, requestId, table = '' } = sourceSql(change, parameters);
  const nowMs = Date.now();
  const isKept = kind !== 'create';
  const columns = {
    slot: parameters.add(logSlot(nowMs), 'int2'),
    record_id: 'changed.id',
    xid: 'records.change_xid(changed.id)',
    seq: 'records.change_seq(changed.id)',
    kind: `'${kinds[kind]}'::"char"`,
    changed_at: `greatest(changed.version_at, ${parameters.add(toIso(nowMs), 'timestamptz')})`,
    actor,
    request_id: requestId,
    ...(isKept && Object.fromEntries(oldColumns.map((name) => [name, `changed.${name}`]))),
    ...(hasShares && { old_shares: 'lost.users' }),
  };
  const from = `changed${table}${hasShares ? sharesTable : ''}`;
  return {
    ...noSide,
    returned: returnedSql[kind],
    tables: `, logged AS (${insertFromSql('changes', columns, from)})`,
  };
};
