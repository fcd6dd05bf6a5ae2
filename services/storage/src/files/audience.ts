import { type ApiError, type RecordPlace, storageRoutes, type Visibility } from '@backlot/contract';

/** Whom a file is for, as it was asked for. */
export interface WantedAudience {
  visibility: Visibility;
  /** In lower case; null where it is of no group. */
  groupId: string | null;
  /** The record whose readers see it. */
  record: { collection: string; recordId: string } | null;
}

/** Whom a file is for. */
export interface Audience extends Pick<WantedAudience, 'visibility' | 'groupId'> {
  record: RecordPlace | null;
}

type Sent = { [Field in 'visibility' | 'groupId' | 'collection' | 'recordId']?: unknown };

const rules = {
  visibility: 'must be "public" or "private".',
  groupId: 'must be the id of a group.',
  collection: 'must be the name of a collection, beside "recordId".',
  recordId: 'must be the id of a record, beside "collection".',
} as const;

/** A file of a group or of a record is private unless stated. */
export const toAudience = ({
  visibility,
  groupId,
  collection,
  recordId,
}: {
  visibility?: Visibility | undefined;
  groupId?: string | undefined;
  collection?: string | undefined;
  recordId?: string | undefined;
}): WantedAudience => ({
  visibility:
    visibility ?? (groupId === undefined && recordId === undefined ? 'public' : 'private'),
  groupId: groupId?.toLowerCase() ?? null,
  record:
    collection === undefined || recordId === undefined
      ? null
      : { collection, recordId: recordId.toLowerCase() },
});

/** @throws what `invalid` makes of a field and its rule */
export const parseAudience = (
  sent: Sent,
  invalid: (field: keyof Sent, rule: string) => ApiError,
): WantedAudience => {
  const { shape } = storageRoutes.fileAudience;
  const visibility = shape.visibility.safeParse(sent.visibility);
  if (!visibility.success) throw invalid('visibility', rules.visibility);
  const groupId = shape.groupId.safeParse(sent.groupId);
  if (!groupId.success) throw invalid('groupId', rules.groupId);
  const collection = shape.collection.safeParse(sent.collection);
  if (!collection.success) throw invalid('collection', rules.collection);
  const recordId = shape.recordId.safeParse(sent.recordId);
  if (!recordId.success) throw invalid('recordId', rules.recordId);
  if ((collection.data === undefined) !== (recordId.data === undefined)) {
    const missing = collection.data === undefined ? 'collection' : 'recordId';
    throw invalid(missing, rules[missing]);
  }
  return toAudience({
    visibility: visibility.data,
    groupId: groupId.data,
    collection: collection.data,
    recordId: recordId.data,
  });
};
