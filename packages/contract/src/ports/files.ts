import type { Caller } from '../define-route.ts';
import type { ErrorCode } from '../error-codes.ts';

/** Who wants to see a file or a record, as they stand in an identity. */
export interface FileReader {
  project: { id: string; number: number; ownerId: string | null };
  caller: Caller;
  userId: string | null;
  role?: string;
  emailVerified?: true;
  groups?: readonly { id: string; role: string }[];
  ip: string;
}

export interface ImageAsking extends FileReader {
  fileId: string;
}

/** JPEG in base64. */
export type ImageAnswer = { data: string } | { refused: { code: ErrorCode; message: string } };

/** Offered by the storage service. */
export interface ImageDirectory {
  /** An image of at most 1,024 by 1,024 pixels, made smaller where it has more. */
  readImage(asking: ImageAsking): Promise<ImageAnswer>;
}

export interface FilesAsking extends FileReader {
  /** At most 100. */
  fileIds: readonly string[];
}

export interface FileDescription {
  id: string;
  name: string;
  /** Media type. */
  type: string;
  /** Bytes. */
  size: number;
}

/** Offered by the storage service. */
export interface FileDirectory {
  /** Those that this caller may read, in the order asked for; others are left out. */
  describeFiles(asking: FilesAsking): Promise<FileDescription[]>;
  /** A file of at most 10 MiB, whoever may read it: who asks has let them. Null where it is gone. */
  readFile(projectNumber: number, fileId: string): Promise<Uint8Array | null>;
}
