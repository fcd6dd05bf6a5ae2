import type { Readable } from 'node:stream';
import type { DataStore } from '@tus/server';

export class BlobNotFound extends Error {
  override readonly name = 'BlobNotFound';
}

/** Out of reach, full, or without permission; the cause is logged, never shown. */
export class BlobStoreUnavailable extends Error {
  override readonly name = 'BlobStoreUnavailable';
  readonly isUnavailable = true;
}

const keyForm = /^[a-z0-9-]+(\/[a-z0-9-]+)*$/;

/** @throws RangeError unless it is one */
export const checkKey = (key: string): string => {
  if (!keyForm.test(key)) throw new RangeError(`"${key}" is not a valid blob key.`);
  return key;
};

/** Bytes from `start` to `end`, both included and both within the blob. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface DirectAccess {
  /** A form that uploads one blob: its address, and the fields before `file`. */
  presignUpload(
    key: string,
    maxBytes: number,
    expiresInSeconds: number,
  ): Promise<{ url: string; fields: Record<string, string> }>;
  /** An address that anybody can open; the store answers with these two headers. */
  presignRead(
    key: string,
    headers: { contentType: string; contentDisposition: string },
    expiresInSeconds: number,
  ): Promise<string>;
  /** @throws BlobNotFound */
  copy(from: string, to: string): Promise<void>;
}

/** Where a store keeps what it knows of a blob that comes in several calls; any JSON. */
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
   * Blobs that come in several calls, behind the interface of tus; its ids are keys. Bytes that it
   * counts are durable, but for the last 5 MiB where a process is killed. Until all have arrived, `open`
   * and `sizeBytes` may find a part of the blob. Throws as all others do.
   */
  resumable(notes: Notes): DataStore;
  /** Also removes what an interrupted put has left. A key without a blob is no error. */
  remove(key: string): Promise<void>;
  close(): Promise<void>;
  /** Where blobs are files by their keys, for processes that read them by themselves. */
  folder?: string;
  /** Undefined where callers can not reach the store themselves. */
  direct?: DirectAccess;
}
