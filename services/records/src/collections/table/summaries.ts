import type { CollectionAccess, CollectionLimits, OnErase, RecordSchema } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { isoTimeSql } from '../../sql.ts';
import { adviceFor, limitsAdvice } from '../advice.ts';
import { effectiveOnErase } from '../on-erase.ts';
import type { PersonalKind } from '../personal-values.ts';
import { parseAccess } from '../rules.ts';
import { type LimitsState, shownLimitsSql } from '../stored/limits.ts';
import { missingIndexesSql, type WhyMissing } from '../stored/missing-indexes.ts';
import type { SearchState } from '../stored/search-words.ts';
import { shownSearchSql } from '../stored/searches.ts';
import type { SlotState } from '../stored/slots.ts';
import { shownFieldsSql, type UniqueState } from '../stored/unique-fields.ts';
import { CollectionGone } from './found-collections.ts';

/** A collection as its owner sees it. */
export interface CollectionSummary {
  name: string;
  advice?: string;
  access: CollectionAccess;
  count: number;
  /** Of the documents as JSON, and of what is kept beside them. */
  sizeBytes: number;
  createdAt: string;
  onErase: OnErase;
  indexes: CollectionIndex[];
  /** Fields that lists and counts of a day looked through records for, without an index. */
  missingIndexes: MissingIndex[];
  unique: ShownUniqueField[];
  /** Null where it is off; `fields` null: all. */
  search: { fields: string[] | null; state: SearchState | 'failed' } | null;
  /** What records have to be; null: anything. */
  schema: RecordSchema | null;
  limits: CollectionLimits | null;
  /** Whether changes are kept. */
  history: boolean;
  /** Whether the records from before are counted for `limits.perUser`. */
  limitsState?: LimitsState;
}

export interface ShownUniqueField {
  /** Several where they are unique together. */
  field: string | string[];
  state: UniqueState;
  /** Two records with the same value, where that is why it has failed. */
  duplicates?: string[];
}

export interface CollectionIndex {
  field: string;
  state: SlotState;
  /** While it is building: the share of the records that it has. */
  progress?: number;
  /** What the building of one that has not begun waits for. */
  waitsFor?: 'writes' | 'turn';
  /** Whether the owner has asked for it. */
  isPinned: boolean;
  /** The lists and counts of a day for which it has made itself; null where the owner has asked first. */
  reason: { scans: number; scannedMs: number } | null;
  uses: number;
  lastUsedAt: string | null;
}

export interface MissingIndex {
  field: string;
  scans: number;
  scannedMs: number;
  state: WhyMissing;
}

const indexesSql = `(SELECT coalesce(json_agg(json_build_object('field', field, 'state', state,
    'isPinned', is_pinned, 'reason', CASE WHEN scans IS NOT NULL THEN json_build_object('scans', scans, 'scannedMs', round(scanned_ms)) END,
    'filled', filled, 'waitsFor', CASE WHEN NOT is_known THEN 'writes' WHEN position IS NULL THEN 'turn' END, 'uses', uses, 'lastUsedAt', ${isoTimeSql('used_at')}) ORDER BY field), '[]')
  FROM slots WHERE slots.project_id = $1 AND slots.coll_id = collections.coll_id)`;

/** What writes have counted, folded or not; a sweep adds those from before they did. */
export const countedSql = (folded: string, unfolded: string) =>
  `greatest(0, ${folded} + (SELECT coalesce(sum(${unfolded}), 0) FROM count_delta
    WHERE count_delta.project_id = $1 AND count_delta.coll_id = collections.coll_id))::int8`;

const summaryColumns = `name, access, on_erase, personal, schema, history, ${isoTimeSql('created_at')} AS "createdAt", ${indexesSql} AS indexes, ${missingIndexesSql} AS "missingIndexes", ${shownFieldsSql} AS "unique", ${shownSearchSql} AS search, ${shownLimitsSql},
  ${countedSql('row_count', 'd')} AS count, ${countedSql('byte_count', 'bytes')} AS "sizeBytes"`;

type IndexRow = Omit<CollectionIndex, 'waitsFor'> & {
  filled: number;
  waitsFor: CollectionIndex['waitsFor'] | null;
};
type SummaryRow = Omit<
  CollectionSummary,
  'access' | 'indexes' | 'onErase' | 'schema' | 'limitsState'
> & {
  on_erase: OnErase | null;
  limitsState: LimitsState | null;
  personal: Record<string, PersonalKind>;
  access: string;
  schema: string | null;
  indexes: IndexRow[];
};

const toIndex = ({ filled, waitsFor, ...index }: IndexRow, count: number): CollectionIndex => {
  if (index.state !== 'building') return index;
  const progress = Math.min(1, Math.floor((100 * filled) / Math.max(1, count)) / 100);
  return { ...index, progress, ...(waitsFor && { waitsFor }) };
};

const toSummary = ({ personal, on_erase, limitsState, ...row }: SummaryRow): CollectionSummary => {
  const access = parseAccess(row.access);
  const advised = { name: row.name, access, personal };
  const advice = [adviceFor(advised), limitsAdvice(advised, row.limits ?? {})]
    .filter((one) => one !== undefined)
    .join(' ');
  const indexes = row.indexes.map((index) => toIndex(index, row.count));
  const onErase = effectiveOnErase(on_erase, access);
  const schema = row.schema === null ? null : (JSON.parse(row.schema) as RecordSchema);
  return {
    ...row,
    access,
    onErase,
    schema,
    indexes,
    ...(limitsState && { limitsState }),
    ...(advice !== '' && { advice }),
  };
};

/** @throws CollectionGone */
export const readSummary = async (
  database: Database,
  projectNumber: number,
  name: string,
): Promise<CollectionSummary> => {
  const [row] = await database.query<SummaryRow>(
    `SELECT ${summaryColumns} FROM collections WHERE project_id = $1 AND name = $2`,
    [projectNumber, name],
  );
  if (!row) throw new CollectionGone();
  return toSummary(row);
};

export const readSummaries = async (
  database: Database,
  projectNumber: number,
): Promise<CollectionSummary[]> => {
  const rows = await database.query<SummaryRow>(
    `SELECT ${summaryColumns} FROM collections WHERE project_id = $1 AND deleted_at IS NULL ORDER BY name`,
    [projectNumber],
  );
  return rows.map(toSummary);
};
