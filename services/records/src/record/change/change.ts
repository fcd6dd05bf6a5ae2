import type { KeptAnswer } from '@backlot/http';
import type { Access } from '../../collections/access.ts';
import type { Collection } from '../../collections/collections.ts';
import type { WriteAction } from '../../collections/forbidden.ts';
import type { RecordCount } from '../../collections/stored/record-counts.ts';
import type { Source } from '../../source.ts';

/** What one statement does with records of a collection; `changeSql` writes it, with all that follows from it. */
export type Change = Creation | Update | Deletion;

interface OfCollection {
  collection: Collection;
  /** Unique values are claimed by a later statement, when all that the transaction frees is free. */
  claimsLater?: boolean;
  /** Who makes it; one for each record where they differ. Default the platform. */
  source?: Source | readonly Source[] | undefined;
}

export interface NewRecord {
  id: string;
  ownerId: string | null;
  /** As the API writes it. */
  createdAt: string;
  /** Where it does not begin with its first version. */
  updatedAt?: string;
  dataJson: string;
  groupId?: string | undefined;
  /** The answer, where the statement stores it too. */
  kept?: KeptAnswer | undefined;
}

export interface Creation extends OfCollection {
  kind: 'create';
  records: readonly NewRecord[];
  /** By the client, one alone: it may be taken, or have been another record's. */
  isIdChosen?: boolean | undefined;
  /** Their ids and owners are given: of these records none is there, but others may have had the ids. */
  isGiven?: boolean | undefined;
  /** What the records count for. Default nothing. */
  counts?: readonly RecordCount[];
}

export interface Edit {
  id: string;
  /** JSON of the fields that are set, or of the document that takes its place. */
  dataJson: string;
  unset: readonly string[];
  /** Added to the numbers that are there; a missing field counts as 0. */
  inc: Readonly<Record<string, number>>;
  /** Whose the record becomes, where `changesOwner`. */
  ownerId?: string;
}

export interface Update extends OfCollection {
  kind: 'update';
  edits: readonly Edit[];
  how: 'merge' | 'merge-deep' | 'replace';
  /** Whether it names this field of the documents' first level. */
  names(field: string): boolean;
  /** Whether it touches the field. Default any. */
  isChanged?(field: string): boolean;
  /** Each edit says whose its record becomes. */
  changesOwner?: true;
  now: number;
  /** How large a record may become, unless it was. Default any. */
  maxBytes?: number | undefined;
  /** Undefined where the records are locked, and it was looked at before. */
  by?: Permission;
  /** Of one record: what only it decides, to be looked at once it is locked. */
  resultCheck?: ResultCheck | undefined;
  /** Of callers who wait for nobody: what another transaction has locked, or is large, stays as it is. */
  skipsLocked?: { userIds: readonly (string | null)[]; maxBytes: number };
}

export interface Deletion extends OfCollection {
  kind: 'delete';
  ids: readonly string[];
  by?: Permission;
}

/** What fields have to be that follow from the record too. */
export interface ResultCheck {
  /** Of the first level. */
  fields: readonly string[];
  /** @param result those of the fields that the record then has @throws ApiError schema_mismatch */
  check(result: Readonly<Record<string, unknown>>): void;
}

/** What the statement itself asks of each record. */
export interface Permission {
  access: Access;
  action: WriteAction;
  /** Those that the change accepts; undefined: any. */
  versions?: readonly number[] | undefined;
  /** How much larger the record may become, where that is asked. */
  roomBytes?: number | undefined;
}

/** As much of a change as is known before its records are. */
export type Touch = Pick<OfCollection, 'collection' | 'claimsLater'> &
  Pick<Change, 'kind'> &
  Pick<Update, 'isChanged' | 'changesOwner' | 'resultCheck'>;

export const changedIds = (change: Change): readonly string[] => {
  switch (change.kind) {
    case 'create':
      return change.records.map(({ id }) => id);
    case 'update':
      return change.edits.map(({ id }) => id);
    case 'delete':
      return change.ids;
  }
};
