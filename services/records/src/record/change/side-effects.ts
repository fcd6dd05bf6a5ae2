import { keepAnswersSql } from '@backlot/service';
import { compileAccess } from '../../collections/rules.ts';
import { claimsGrowthSql, claimsSql, touchedFields } from '../../collections/stored/claims.ts';
import {
  countCreatedSql,
  countOwnersSql,
  countsCreates,
  hasRoomSql,
} from '../../collections/stored/record-counts.ts';
import {
  mostWordsBytes,
  touchesWords,
  wordsGrowthSql,
  wordsSql,
} from '../../collections/stored/search-words.ts';
import {
  claimBytes,
  noSide,
  type SideSql,
  shareBytesSql,
} from '../../collections/stored/side-sql.ts';
import { type IndexColumn, indexColumns } from '../../collections/stored/slots.ts';
import { inCollection, type Parameters } from '../../sql.ts';
import { type Change, type Creation, changedIds, type Touch } from './change.ts';
import { logSql } from './log-sql.ts';

/** What follows from a change of records, in its statement. */
interface SideEffect {
  /** Further columns of the row itself. @param document after the change @param owner undefined where they stay */
  columns?(
    touch: Touch,
    document: string,
    owner: string | undefined,
    parameters: Parameters,
  ): readonly IndexColumn[];
  /** Without which no record is made. */
  condition?(creation: Creation, parameters: Parameters): string | undefined;
  /** What it does to other tables, from what the table `changed` returns. */
  sides?(change: Change, parameters: Parameters): SideSql;
  /** Whether the records have to be locked by an earlier statement: what another change has just written is else not seen. */
  needsLock?(touch: Touch): boolean;
  /** Whether the change is made by itself, and not in one statement with those of other callers. */
  isAlone?(touch: Touch): boolean;
  /** What the quota counts for it, at most, where a record becomes so much larger. */
  mostBytes?(touch: Touch, growthBytes: number): number;
  /** What it counts for a row of `records`: terms of a sum. */
  growthSql?(touch: Touch, document: string, parameters: Parameters): readonly string[];
  /** Its table, whose rows end with the collection: what names one, and what the quota counts for it. */
  table?: readonly [name: string, key: string, bytes: string];
}

const mayHaveShares = (change: Change) =>
  change.kind === 'delete' || (change.kind === 'create' && (change.isIdChosen || change.isGiven));

/** A new one is an entry here. */
const all: Record<string, SideEffect> = {
  indexColumns: {
    columns: ({ collection, isChanged }, document, owner, parameters) =>
      indexColumns(collection.slots, { document, owner, isChanged }, parameters),
  },

  uniqueValues: {
    sides: (change, parameters) => claimsSql(change, parameters),
    needsLock: (touch) => touch.kind !== 'create' && touchedFields(touch).length > 0,
    isAlone: (touch) => touchedFields(touch).length > 0,
    mostBytes: (touch) => touchedFields(touch).length * claimBytes,
    growthSql: (touch, document, parameters) =>
      claimsGrowthSql(touchedFields(touch), document, parameters),
    table: ['unique_values', '(number, key)', String(claimBytes)],
  },

  searchWords: {
    sides: (change, parameters) => wordsSql(change, parameters),
    needsLock: ({ kind, collection }) => kind === 'delete' && collection.search !== undefined,
    isAlone: (touch) => touch.kind === 'update' && touchesWords(touch),
    mostBytes: (touch, growthBytes) => (touchesWords(touch) ? mostWordsBytes(growthBytes) : 0),
    growthSql: (touch, document, parameters) => wordsGrowthSql(touch, document, parameters),
    table: ['search_texts', '(number, record_id)', 'size_bytes'],
  },

  /** Fields that have to fit a schema, and follow from the record. */
  schema: {
    needsLock: ({ resultCheck }) => resultCheck !== undefined,
    isAlone: ({ resultCheck }) => resultCheck !== undefined,
  },

  /** The shares of a record go with it; under an id that a client chose another one may have had some. */
  shares: {
    sides(change) {
      const mayHave = mayHaveShares(change);
      if (!mayHave) return noSide;
      const isOne = changedIds(change).length === 1;
      const theirs = isOne ? 'record_id = $3' : 'record_id = ANY ($3::uuid[])';
      return {
        returned: '',
        tables: `, unshared AS (DELETE FROM shares WHERE ${inCollection} AND ${theirs} AND EXISTS (SELECT FROM changed)
      RETURNING -${shareBytesSql} AS growth, record_id, user_id)`,
        counted: ['unshared'],
      };
    },
    table: ['shares', '(record_id, user_id, email)', shareBytesSql],
  },

  recordCounts: {
    condition: ({ counts = [], records }, parameters) =>
      hasRoomSql(counts, records.length, parameters),
    sides(change, parameters) {
      const { limits = {} } = change.collection;
      if (change.kind === 'create')
        return change.isGiven
          ? countOwnersSql(limits, { gain: true }, parameters)
          : countCreatedSql(change.counts ?? [], parameters);
      if (change.kind === 'delete') return countOwnersSql(limits, { lose: true }, parameters);
      return change.changesOwner
        ? countOwnersSql(limits, { lose: true, gain: true }, parameters)
        : noSide;
    },
    isAlone: ({ kind, collection }) => kind === 'create' && countsCreates(collection.limits),
    table: ['record_counts', '(number, key)', '0'],
  },

  payments: { table: ['paid_records', '(record_id)', '0'] },

  /** Those of a record that is gone are swept. */
  reports: { table: ['reports', '(record_id, user_id)', '0'] },

  /** Behind the shares, which it reads. */
  log: {
    sides(change, parameters) {
      const isShared = compileAccess(change.collection.access).uses.shared;
      return logSql(change, change.kind === 'delete' && isShared, parameters);
    },
  },

  keptAnswers: {
    sides(change, parameters) {
      if (change.kind !== 'create' || !change.records.some(({ kept }) => kept)) return noSide;
      const kept = change.records.flatMap((record) => record.kept ?? []);
      const tables = keepAnswersSql(kept, 'changed', (values) => parameters.add(values, 'bytea[]'));
      return { ...noSide, tables };
    },
  },
};

const sideEffects = Object.values(all);

/** Tables with rows of a collection: what names one of them, and what the quota counts for it. */
export const sideTables = sideEffects.flatMap(({ table }) => (table ? [table] : []));

export const needsLock = (touch: Touch): boolean =>
  sideEffects.some((effect) => effect.needsLock?.(touch));

export const isAlone = (touch: Touch): boolean =>
  sideEffects.some((effect) => effect.isAlone?.(touch));

export const sideColumns = (
  touch: Touch,
  document: string,
  owner: string | undefined,
  parameters: Parameters,
): readonly IndexColumn[] => {
  const columns: IndexColumn[] = [];
  for (const effect of sideEffects)
    if (effect.columns) columns.push(...effect.columns(touch, document, owner, parameters));
  return columns;
};

export const sideConditions = (
  creation: Creation,
  parameters: Parameters,
): readonly (string | undefined)[] =>
  sideEffects.map((effect) => effect.condition?.(creation, parameters));

export const combineSides = (change: Change, parameters: Parameters): Required<SideSql> => {
  const sides = { returned: '', tables: '', counted: [] as string[], lasting: [] as string[] };
  for (const effect of sideEffects) {
    const side = effect.sides?.(change, parameters) ?? noSide;
    sides.returned += side.returned;
    sides.tables += side.tables;
    sides.counted.push(...side.counted);
    sides.lasting.push(...(side.lasting ?? side.counted));
  }
  return sides;
};

/** What a change of a row of `records` adds beside it: terms of a sum. */
export const sideGrowthSql = (
  touch: Touch,
  document: string,
  parameters: Parameters,
): readonly string[] =>
  sideEffects.flatMap((effect) => effect.growthSql?.(touch, document, parameters) ?? []);

/** What the quota counts beside a record that becomes so much larger, at most, but for words that were beyond the first. */
export const mostSideBytes = (touch: Touch, growthBytes: number): number =>
  sideEffects.reduce((sum, effect) => sum + (effect.mostBytes?.(touch, growthBytes) ?? 0), 0);

/** Bytes of all that is kept beside the records of a collection of the project `$1`. @param id its number */
export const sideBytesSql = (id: string): string => {
  const sums = sideTables
    .filter(([, , bytes]) => bytes !== '0')
    .map(
      ([name, , bytes]) =>
        `(SELECT coalesce(sum(${bytes}), 0) FROM ${name} WHERE ${name}.project_id = $1 AND ${name}.coll_id = ${id})`,
    );
  return `(${sums.join(' + ')})::int8`;
};
