import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { checkChange, checkCreate } from '../collections/access.ts';
import { limitedFieldsSql } from '../collections/field-rules.ts';
import { changeForbidden } from '../collections/forbidden.ts';
import { policyAfterSql, rowPolicySql } from '../collections/terms/policy-sql.ts';
import { type CheckedData, checkData } from '../record/data.ts';
import type { Records } from '../record/records.ts';
import type { RecordTarget } from '../record/refusals.ts';
import { epochMsSql } from '../sql.ts';
import { formerSharesSql, isEntrySql, pastRecordsSql, startRecord } from './past-records.ts';
import { readStanding, type Standing } from './standing.ts';

interface PastRow {
  readable: boolean;
  /** Whether the rule lets the caller change what it would become. */
  changeable: boolean;
  /** JSON: with the fields that the caller may not change as they are, or were last. */
  data: string;
  owner_id: string | null;
  group_id: string | null;
}

interface LastRow {
  /** JSON of the fields that the caller may not change. */
  kept: string;
  version: number;
}

export interface RestoreDeps {
  database: Database;
  records: Pick<Records, 'replace' | 'recreate'>;
}

const noSuchChange = (): ApiError =>
  new ApiError('not_found', 'There is no such change of this record.', {
    hint: 'GET /db/<collection>/<id>/_history lists what can be restored, with the "seq" of each. A create has nothing to bring back.',
  });

/** PostgreSQL's text is kept: its numbers may have more digits than JavaScript's. */
const toData = ({ data, group_id }: PastRow): CheckedData => ({
  ...checkData(JSON.parse(data)),
  json: data,
  sizeBytes: Buffer.byteLength(data),
  groupId: group_id ?? undefined,
});

export const createRestore = ({ database, records }: RestoreDeps) => {
  /** What a record that is gone was last. */
  const readLast = async (
    target: RecordTarget,
    { last, hidden, frozen }: Standing,
  ): Promise<LastRow | undefined> => {
    if (!last) return undefined;
    const parameters = startRecord(target);
    const from = pastRecordsSql(target, parameters, isEntrySql(last.seq, parameters));
    const names = parameters.add([...hidden, ...frozen], 'text[]');
    const [row] = await database.query<LastRow>(
      `SELECT coalesce((SELECT jsonb_object_agg(name, data -> name) FROM unnest(${names}) name WHERE data ? name), '{}')::text AS kept,
         ${epochMsSql('updated_at')} AS version FROM ${from}`,
      parameters.values,
    );
    return row;
  };

  /** @throws ApiError not_found where the caller may not see what there was */
  const readPast = async (
    target: RecordTarget,
    seq: number,
    { last, hidden, frozen }: Standing,
    kept: string,
  ): Promise<PastRow> => {
    const { access } = target;
    const { rights, fields } = access;
    const parameters = startRecord(target);
    const shares = formerSharesSql(last?.sharedWith, parameters);
    const from = pastRecordsSql(target, parameters, isEntrySql(seq, parameters));
    const readable = rowPolicySql(rights.read, access, parameters) ?? 'true';
    const limited = limitedFieldsSql(access, [...fields.hidden, ...fields.frozen], parameters);
    const now = parameters.add([...hidden, ...frozen], 'text[]');
    const document = `((data - (${limited} || ${now})) || ${parameters.add(kept, 'jsonb')})`;
    const [row] = await database.query<PastRow>(
      `${shares}SELECT (${readable}) IS TRUE AS readable, ${policyAfterSql(rights.change, document, access, parameters)} AS changeable,
         ${document}::text AS data, owner_id, group_id FROM ${from}`,
      parameters.values,
    );
    if (!row?.readable) throw noSuchChange();
    return row;
  };

  /**
   * Writes a record as it was before a change: as a change of the caller, who may make it. What they may not change stays
   * as it is. @throws ApiError as the change itself
   */
  return async (target: RecordTarget, seq: number): Promise<void> => {
    const { access, collection, project } = target;
    checkChange(access);
    const standing = await readStanding(database, target);
    if (!standing.changeable) throw changeForbidden(access, target, 'change');
    const last = await readLast(target, standing);
    const past = await readPast(target, seq, standing, last?.kept ?? '{}');
    const data = toData(past);
    if (!last) return void (await records.replace(target, data, undefined));
    if (!past.changeable) throw changeForbidden(access, target, 'change');
    const id = target.id.toLowerCase();
    checkCreate(access, { project, collection }, { ...data, id });
    const former = { ownerId: past.owner_id, version: last.version };
    await records.recreate({ ...target, id }, data, former);
  };
};
