/** The values of one statement: whatever a client sent enters SQL through here and in no other way. */
export class Parameters {
  readonly values: unknown[];

  constructor(values: readonly unknown[] = []) {
    this.values = [...values];
  }

  /** Returns the placeholder, with its type. */
  add(value: unknown, type: string): string {
    this.values.push(value);
    return `$${this.values.length}::${type}`;
  }
}

/** `values` are those of `$1`, `$2` and so on. */
export interface Statement {
  text: string;
  values: readonly unknown[];
}

export interface CollectionKey {
  projectNumber: number;
  id: number;
}

/** Every statement on records begins with these two values and has this condition. */
export const inCollection = 'project_id = $1 AND coll_id = $2';
export const matchesId = `${inCollection} AND id = $3`;
export const startParameters = (
  { projectNumber, id }: CollectionKey,
  ...values: unknown[]
): Parameters => new Parameters([projectNumber, id, ...values]);

/**
 * An INSERT inside WITH, and never behind it, from what another part of the statement returns. Project and
 * collection come out of the collection's row: were they parameters, Citus would send what was returned to all
 * nodes, and where one is away the statement would fail for the projects of the others too.
 * @param columns beside those two, each with its value
 * @param source tables of FROM, none of which has a column of `collections`
 */
export const insertFromSql = (
  table: string,
  columns: Readonly<Record<string, string>>,
  source: string,
  condition = 'true',
): string =>
  `INSERT INTO ${table} (project_id, coll_id, ${Object.keys(columns).join(', ')})
     SELECT own.project_id, own.coll_id, ${Object.values(columns).join(', ')} FROM collections own, ${source}
     WHERE own.project_id = $1 AND own.coll_id = $2 AND ${condition}`;

export const and = (conditions: readonly (string | undefined)[]): string =>
  conditions.filter((condition) => condition !== undefined).join(' AND ');

/** A timestamptz column as the API writes times. */
export const isoTimeSql = (column: string): string =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** A timestamptz column as epoch milliseconds. */
export const epochMsSql = (column: string): string =>
  `(extract(epoch FROM ${column}) * 1000)::int8`;

/**
 * It grows even where two changes fall into one millisecond or the clock steps back. Time zones come in because adding to
 * a timestamptz is not IMMUTABLE, which Citus asks of an UPDATE.
 */
export const nextVersionSql = (time: string): string =>
  `greatest(${time}, (updated_at AT TIME ZONE 'UTC' + interval '1 ms') AT TIME ZONE 'UTC')`;

/** Grows with every change of a record. */
export const versionSql = epochMsSql('updated_at');

/**
 * A row of `records` as the API's JSON; right(…, -1) takes off the opening brace without counting characters.
 * @param created `created_at` as text, where a query has it already: it is a fifth of the work
 * @param data the document, where it is not all of the column
 */
export const recordJsonSql = (created = isoTimeSql('created_at'), data = 'data'): string =>
  `${ownFieldsSql(created)} || CASE WHEN ${data} = '{}' THEN '}' ELSE ',' || right(${data}::text, -1) END`;

/** What a record has beside its document, as the beginning of its JSON. */
export const ownFieldsSql = (created = isoTimeSql('created_at')): string =>
  `'{"id":"' || id || '","ownerId":' || coalesce('"' || owner_id || '"', 'null') || coalesce(',"groupId":"' || group_id || '"', '') || ',"createdAt":"' || ${created} || '","updatedAt":"' || CASE WHEN updated_at = created_at THEN ${created} ELSE ${isoTimeSql('updated_at')} END || '"'`;

/** Answers up to this size travel on the pipelined connections, where others wait behind them. */
export const maxPipelinedBytes = 256 * 1024;
