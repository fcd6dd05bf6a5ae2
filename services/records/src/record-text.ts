/** A timestamptz column as the API writes times. */
export const isoText = (column: string): string =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** A timestamptz column as epoch milliseconds. */
export const msOf = (column: string): string => `(extract(epoch FROM ${column}) * 1000)::int8`;

/** Grows with every change of a record. */
export const versionOf = msOf('updated_at');

/**
 * A row of `records` as the API's JSON, written by PostgreSQL: the document passes through as text.
 * right(…, -1) takes off the opening brace without counting characters, as substr would.
 * @param created `created_at` as text, where a query has it already: it is a fifth of the work
 */
export const recordText = (created = isoText('created_at')): string =>
  `'{"id":"' || id || '","ownerId":' || coalesce('"' || owner_id || '"', 'null') || ',"createdAt":"' || ${created} || '","updatedAt":"' || CASE WHEN updated_at = created_at THEN ${created} ELSE ${isoText('updated_at')} END || CASE WHEN data = '{}' THEN '"}' ELSE '",' || right(data::text, -1) END`;

/** The same from the record's own fields and a document. */
export const joinRecordJson = (own: object, dataJson: string): string =>
  dataJson === '{}'
    ? JSON.stringify(own)
    : `${JSON.stringify(own).slice(0, -1)},${dataJson.slice(1)}`;
