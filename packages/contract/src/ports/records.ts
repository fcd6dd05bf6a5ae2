import type { ErrorCode } from '../error-codes.ts';
import type { CollectionShape } from '../routes/records/shape.ts';
import type { FileReader } from './files.ts';

/** Offered by the records service. */
export interface ShapeDirectory {
  /**
   * The collections of a project, with their fields.
   * @param asking `ip`: the address for which it is asked, as it stands in an identity
   */
  describe(asking: {
    project: { id: string; number: number; ownerId: string | null };
    ip: string;
  }): Promise<CollectionShape[]>;
}

/** A record under the number of its collection, which keeps it when it is renamed. */
export interface RecordPlace {
  collectionId: number;
  recordId: string;
}

export interface RecordChangeAsking extends FileReader {
  /** Its name. */
  collection: string;
  recordId: string;
}

export type RecordChangeAnswer =
  | { collectionId: number }
  | { refused: { code: ErrorCode; message: string; hint?: string } };

/** Offered by the records service. */
export interface RecordDirectory {
  /** Where the record is, for who may change it; else why not. */
  mayChange(asking: RecordChangeAsking): Promise<RecordChangeAnswer>;
  /** False also where it is gone. */
  mayRead(asking: FileReader & RecordPlace): Promise<boolean>;
}

/** Offered by the records service. */
export interface FilterDirectory {
  /** What is wrong with a `where`; null where it can be used. */
  checkFilter(where: Readonly<Record<string, unknown>>): Promise<string | null>;
}
