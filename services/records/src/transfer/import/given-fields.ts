import { createHash } from 'node:crypto';
import { ApiError, isUuid } from '@backlot/contract';
import { systemFields } from '../../fields.ts';
import type { JsonRecord } from '../../list/shown/shown-fields.ts';
import { type CheckedData, checkData } from '../../record/data.ts';
import { idTimeMs, parseTimestamp } from '../../timestamps.ts';

const clockDifferenceMs = 60_000;
/** Lines that share a millisecond: as many as the 12 bits behind the time tell apart. */
const linesInMs = 4096;
/** Times of lines end so long behind their import's, so that none is ahead of the clock for long. */
const longestMs = 30_000;

export const isUuidV7 = (id: unknown): id is string =>
  typeof id === 'string' && isUuid(id) && /^7.{4}[89ab]/i.test(id.slice(14));

export interface ImportOf {
  projectNumber: number;
  /** Names the import: a UUIDv7. */
  id: string;
  idField: string | undefined;
  /** Whether the collection's rules name groups. */
  hasGroups: boolean;
  now: number;
}

const refuse = (message: string, hint?: string): never => {
  throw new ApiError('invalid_data', message, hint === undefined ? {} : { hint });
};

/** The id of a line's record is the same whenever the line comes, in the order of lines. */
const lineId = (
  { projectNumber, id }: Pick<ImportOf, 'projectNumber' | 'id'>,
  line: number,
  createdMs: number | undefined,
): string => {
  const ms = createdMs ?? idTimeMs(id) + Math.min(longestMs, Math.floor(line / linesInMs));
  const hash = createHash('sha256').update(`${projectNumber} ${id} ${line}`).digest();
  hash.writeUIntBE(ms, 0, 6);
  hash.writeUInt16BE(0x7000 | (line % linesInMs), 6);
  hash.writeUInt8(0x80 | (hash.readUInt8(8) & 0x3f), 8);
  return hash.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};

const readCreatedAt = (value: unknown, now: number): number | undefined => {
  if (value === undefined || value === null || value === '') return undefined;
  const ms = typeof value === 'string' ? parseTimestamp(value) : undefined;
  if (ms === undefined) return refuse('createdAt: is no time such as 2026-01-31T12:00:00Z.');
  if (ms < 0 || ms > now + clockDifferenceMs) return refuse('createdAt: is before 1970, or ahead.');
  return Math.floor(ms);
};

const readId = (sent: JsonRecord, line: number, of: ImportOf): [id: string, rest: JsonRecord] => {
  const { id } = sent;
  const createdMs = readCreatedAt(sent.createdAt, of.now);
  if (id === undefined || id === null || id === '') return [lineId(of, line, createdMs), {}];
  if (isUuidV7(id)) {
    if (idTimeMs(id) > of.now + clockDifferenceMs) refuse('id: its time is ahead.');
    return [id.toLowerCase(), {}];
  }
  if (of.idField === undefined)
    return refuse(
      'id: is no UUIDv7.',
      'Ids of another system go into a field of their own: ?idField=legacyId.',
    );
  return [lineId(of, line, createdMs), { [of.idField]: id }];
};

const readUuid = (sent: JsonRecord, name: 'ownerId' | 'groupId'): string | undefined => {
  const value = sent[name];
  if (value === undefined || value === null || value === '') return undefined;
  return typeof value === 'string' && isUuid(value)
    ? value.toLowerCase()
    : refuse(`${name}: is no id.`);
};

/** A line as the record that it makes, with an owner who is not looked for yet. @throws ApiError invalid_data */
export const toNewRecord = (sent: JsonRecord, line: number, of: ImportOf) => {
  const [id, rest] = readId(sent, line, of);
  const ownerId = readUuid(sent, 'ownerId') ?? null;
  const groupId = of.hasGroups ? readUuid(sent, 'groupId') : undefined;
  const own = new Set<string>(of.hasGroups ? [...systemFields, 'groupId'] : systemFields);
  const fields = Object.entries(sent).filter(([name]) => !own.has(name));
  const data = checkData(Object.fromEntries([...Object.entries(rest), ...fields]));
  return { ...data, groupId, given: { id, ownerId } } satisfies CheckedData;
};
