import type { RecordPlace, Visibility } from '@backlot/contract';
import type { File as FileTable } from '../tables.ts';
import type { File } from './file.ts';

export const fileColumns = [
  'id',
  'owner_id',
  'name',
  'size_bytes',
  'media_type',
  'visibility',
  'group_id',
  'record_collection',
  'record_id',
  'blob_key',
  'created_at',
] as const;
export type FileRow = Pick<FileTable, (typeof fileColumns)[number]>;

export const toRecordPlace = ({
  record_collection: collectionId,
  record_id: recordId,
}: Pick<FileTable, 'record_collection' | 'record_id'>): RecordPlace | null =>
  collectionId === null || recordId === null ? null : { collectionId, recordId };

export const toFile = (row: FileRow): File => ({
  id: row.id,
  ownerId: row.owner_id,
  name: row.name,
  sizeBytes: row.size_bytes,
  mediaType: row.media_type,
  visibility: row.visibility as Visibility,
  groupId: row.group_id,
  record: toRecordPlace(row),
  blobKey: row.blob_key,
  createdAt: row.created_at,
});
