/** What services are asked for while a project is exported, imported or copied. */
import type { ErrorCode } from '../error-codes.ts';

/** What an archive of a project has lines of, in the order in which it has them. */
export const archiveKinds = [
  'users',
  'groups',
  'members',
  'collections',
  'records',
  'shares',
  'files',
] as const;
export type ArchiveKind = (typeof archiveKinds)[number];

/** Of which lines of a project it is asked. */
export interface ArchivePlace {
  project: { id: string; number: number; ownerId: string | null };
  kind: ArchiveKind;
  /** Of records: its name. */
  collection?: string | undefined;
  /** The address for which it is asked, as it stands in an identity. */
  ip: string;
}

export interface ArchiveReading extends ArchivePlace {
  /** `next` of the lines before; null: from the first one on. */
  after: string | null;
  /** Whether lines of users have the hashes of their passwords. */
  hasPasswords: boolean;
  /** Records as they were then, in epoch milliseconds; everything else as it is. */
  asOfMs?: number | undefined;
}

export interface ArchiveLines {
  /** JSON, a line each with its end; 2 MiB at most, and the same for the same contents. */
  text: string;
  /** Null where there are no more. */
  next: string | null;
  /** Why none are read, such as a time that is too long ago. */
  refused?: ArchiveOutcome['refused'];
}

export interface ArchiveTaking extends ArchivePlace {
  /** Lines as `readLines` answers them, from whomever: they are checked. */
  text: string;
}

export interface ArchiveOutcome {
  /** Why nothing of it was taken. */
  refused?: { code: ErrorCode; message: string; hint?: string };
}

/** Offered by each service that keeps what an archive has lines of. */
export interface ArchiveDirectory {
  readLines(reading: ArchiveReading): Promise<ArchiveLines>;
  /** Into a project that nobody else knows yet. All of these lines or none; they are taken once. */
  takeLines(taking: ArchiveTaking): Promise<ArchiveOutcome>;
}

/** Bytes that `readContent` answers at once. */
export const archivedPieceBytes = 4 * 1024 * 1024;

export interface ContentReading {
  project: ArchivePlace['project'];
  fileId: string;
  /** Of the first byte. */
  start: number;
}

export interface ContentTaking {
  project: ArchivePlace['project'];
  /** Of the file, in the lines of files. */
  line: string;
  ip: string;
}

/** Offered by the storage service. Its lines say which files there are; they come with their contents. */
export interface FileArchiveDirectory extends Pick<ArchiveDirectory, 'readLines'> {
  /** `archivedPieceBytes` at most, fewer at the end alone. Null where the file is gone. */
  readContent(reading: ContentReading): Promise<Uint8Array | null>;
  takeContent(taking: ContentTaking, content: AsyncIterable<Uint8Array>): Promise<ArchiveOutcome>;
}
