import { invalidArchive } from '@backlot/service';
import { isSystemField } from '../fields.ts';
import type { NewRecord } from '../record/change/change.ts';
import { checkData } from '../record/data.ts';
import { idTimeMs, toIso } from '../timestamps.ts';
import { exactJson } from './exact-json.ts';

const uuid = '"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"';
const time = String.raw`"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"`;

/** As `recordJsonSql` begins it: what stands behind is the document, in which a `groupId` may be a field like others. */
const ownFields = new RegExp(
  `^\\{"id":${uuid},"ownerId":(?:null|${uuid})(?:,"groupId":${uuid})?,"createdAt":${time},"updatedAt":${time}(,|\\})`,
);

const clockDifferenceMs = 60_000;

/** Times that PostgreSQL has for these texts, and no other. */
const isTime = (text: string) =>
  !Number.isNaN(Date.parse(text)) && toIso(Date.parse(text)) === text;

const checkTimes = (id: string, createdAt: string, updatedAt: string, nowMs: number) => {
  if (id[14] !== '7') throw invalidArchive('"id" is no UUIDv7');
  if (createdAt !== toIso(idTimeMs(id))) throw invalidArchive('"createdAt" is not that of "id"');
  if (!isTime(updatedAt) || updatedAt < createdAt)
    throw invalidArchive('"updatedAt" is not a time behind "createdAt"');
  if (Date.parse(updatedAt) > nowMs + clockDifferenceMs)
    throw invalidArchive('"updatedAt" is in the future');
};

const parseDocument = (dataJson: string): object => {
  try {
    return JSON.parse(dataJson) as object;
  } catch {
    throw invalidArchive('is not JSON');
  }
};

const checkDocument = (dataJson: string) => {
  const document = parseDocument(dataJson);
  // Once more among the fields of the document, they would be a record's that no answer shows.
  if (Object.keys(document).some(isSystemField))
    throw invalidArchive('has id, ownerId, createdAt or updatedAt twice');
  return checkData(document);
};

export interface ArchivedRecord extends NewRecord {
  sizeBytes: number;
}

/**
 * A record as `GET /db/<collection>/<id>` answers it to the owner, with every digit of its numbers.
 * @throws ApiError invalid_body, invalid_data
 */
export const parseRecord = (line: string, nowMs: number): ArchivedRecord => {
  const [start, id = '', ownerId, groupId, createdAt = '', updatedAt = '', end] =
    ownFields.exec(line) ?? [];
  if (start === undefined)
    throw invalidArchive('does not begin with id, ownerId, createdAt and updatedAt of a record');
  checkTimes(id, createdAt, updatedAt, nowMs);
  if (end === '}' && line !== start) throw invalidArchive('is not JSON');
  const text = end === '}' ? '{}' : `{${line.slice(start.length)}`;
  const data = checkDocument(text);
  const dataJson = exactJson(text, data.json);
  return {
    id,
    ownerId: ownerId ?? null,
    createdAt,
    updatedAt,
    dataJson,
    groupId,
    sizeBytes: Math.max(data.sizeBytes, Buffer.byteLength(dataJson)),
  };
};
