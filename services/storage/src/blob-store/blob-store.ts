import type { Readable } from 'node:stream';
import type { DataStore } from '@tus/server';

/** There is no blob of this key. */
export class BlobNotFound extends Error {
  override readonly name = 'BlobNotFound';
}

/** The store is out of reach, full, or refuses us; the cause is logged, never shown. */
export class BlobStoreUnavailable extends Error {
  override readonly name = 'BlobStoreUnavailable';
  readonly isUnavailable = true;
}

const keyForm = /^[a-z0-9-]+(\/[a-z0-9-]+)*$/;

/** @throws RangeError on what is no key */
export const checkKey = (key: string): string => {
  if (!keyForm.test(key)) throw new RangeError(`"${key}" is no key of a blob.`);
  return key;
};

/** Bytes from `start` to `end`, both included and both within the blob. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface DirectAccess {
  /** A form that puts one blob of at most so many bytes there: its address, and the fields before `file`. */
  presign(
    key: string,
    mostBytes: number,
    expiresInSeconds: number,
  ): Promise<{ url: string; fields: Record<string, string> }>;
  /** An address that opens the blob to whoever has it, answered with these two headers. */
  presignRead(
    key: string,
    headers: { contentType: string; contentDisposition: string },
    expiresInSeconds: number,
  ): Promise<string>;
  /** @throws BlobNotFound */
  copy(from: string, to: string): Promise<void>;
}

/** What a store remembers of a blob that comes in several calls; any JSON. */
export interface Notes {
  get<T>(key: string): Promise<T | undefined>;
  set(key: string, note: object): Promise<void>;
  delete(key: string): Promise<void>;
}

/**
 * Bytes under keys that are used once: lower-case letters, digits, `-` and `/`, never empty between
 * slashes. All methods throw BlobStoreUnavailable; what a source stream throws passes through.
 */
export interface BlobStore {
  /**
   * Takes a stream to its end, at the pace of the store; the bytes of a chunk hold until the next one is
   * asked for. The blob is visible and durable when this resolves; where it rejects there is none, or
   * one that `remove` ends.
   */
  put(key: string, source: AsyncIterable<Buffer>): Promise<void>;
  /** @throws BlobNotFound before the first byte */
  open(key: string, range?: ByteRange): Promise<Readable>;
  /** @throws BlobNotFound */
  sizeBytes(key: string): Promise<number>;
  /**
   * Blobs that come in several calls, as tus asks for them; its ids are keys. What it says has arrived
   * stays, but for the last 5 MiB of it where a process ends. Until all has, `open` and `sizeBytes` may find a part of the blob. Throws as all others do.
   */
  resumable(notes: Notes): DataStore;
  /** The blob, and whatever a put that was cut off has left. A key that has nothing is no error. */
  remove(key: string): Promise<void>;
  close(): Promise<void>;
  /** Where callers can reach the store themselves. */
  direct?: DirectAccess;
}
