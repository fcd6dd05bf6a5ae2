import { send } from '../../../api/call.ts';
import { viewAs } from '../pages/source.ts';

/** Where a record lies. */
export interface RecordPlace {
  projectId: string;
  collection: string;
  id: string;
}

/** A record in full, and the version that `If-Match` takes. */
export interface Versioned {
  record: StoredRecord;
  version: string;
}

export interface StoredRecord {
  readonly id: string;
  readonly [field: string]: unknown;
}

export type Data = Readonly<Record<string, unknown>>;

const toVersioned = async (answer: Response): Promise<Versioned> => ({
  record: (await answer.json()) as StoredRecord,
  version: answer.headers.get('etag') ?? '',
});

const input = ({ projectId, collection, id }: RecordPlace) => ({
  project: projectId,
  params: { collection, id },
});

/** @throws BacklotError */
export const readRecord = async (place: RecordPlace, as?: string): Promise<Versioned> =>
  toVersioned(await send('getRecord', input(place), viewAs(as)));

/** @throws BacklotError with the status 412 where the record has another version */
export const patchRecord = async (
  place: RecordPlace,
  body: { data?: Record<string, unknown>; unset?: string[] },
  version: string,
): Promise<Versioned> =>
  toVersioned(
    await send('updateRecord', { ...input(place), body }, { headers: { 'If-Match': version } }),
  );

const ownFields = new Set(['id', 'ownerId', 'createdAt', 'updatedAt']);

/** What the app has put into a record, and the `groupId` that one of a group has. */
export const dataIn = (record: Data): Data =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !ownFields.has(name)));

/** Undefined where it has none of its own: a field may be named `constructor`. */
export const readField = (data: Data, name: string): unknown =>
  Object.hasOwn(data, name) ? data[name] : undefined;

/** Whether two values are the same as JSON, whatever the order of their keys. */
export const isSame = (a: unknown, b: unknown): boolean => {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [a as Data, b as Data];
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && isSame(left[name], right[name]))
  );
};
