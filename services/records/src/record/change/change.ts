import type { KeptAnswer } from '@backlot/http';
import type { Access, WriteAction } from '../../collections/access.ts';
import type { Collection } from '../../collections/collections.ts';

/** What one statement does with records of a collection; `changeSql` writes it, with all that follows from it. */
export type Change = Creation | Update | Deletion;

interface OfCollection {
  collection: Collection;
  /** Unique values are claimed by a later statement, when all that the transaction frees is free. */
  claimsLater?: boolean;
}

/** A record to be created. */
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
}

/** What becomes of the document of a record. */
export interface Edit {
  id: string;
  /** JSON of the fields that are set, or of the document that takes its place. */
  dataJson: string;
  unset: readonly string[];
  /** Added to the numbers that are there; a missing field counts as 0. */
  inc: Readonly<Record<string, number>>;
}

export interface Update extends OfCollection {
  kind: 'update';
  edits: readonly Edit[];
  how: 'merge' | 'merge-deep' | 'replace';
  /** Whether it names this field of the documents' first level. */
  names(field: string): boolean;
  /** Whether it touches the field. Default any. */
  isChanged?(field: string): boolean;
  /** Epoch milliseconds. */
  now: number;
  /** Undefined where the records are locked, and it was looked at before. */
  by?: Permission;
  /** Of callers who wait for nobody: what another transaction has locked, or is large, stays as it is. */
  skipsLocked?: { userIds: readonly (string | null)[]; maxBytes: number };
}

export interface Deletion extends OfCollection {
  kind: 'delete';
  ids: readonly string[];
  by?: Permission;
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
  Pick<Update, 'isChanged'>;

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
