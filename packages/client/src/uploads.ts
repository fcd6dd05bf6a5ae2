/**
 * Uploads that outlive a broken connection: a file goes in parts (tus 1.0.0), and what has arrived is not sent
 * again. Stands beside the client, which most pages need alone.
 */

import type { StoredFile } from './calls/storage.ts';
import type { BacklotError } from './error.ts';
import { isPassing, maxWaitMs, pauseMsAfter, type Transport, wait } from './transport.ts';

export interface PartsOptions {
  /** Default: the file's own. */
  name?: string;
  /** Default: public, or private with `groupId`. */
  visibility?: 'public' | 'private';
  /** A group that the signed-in user is in: the file belongs to it. */
  groupId?: string;
  /** Told how many bytes have arrived, after each part. */
  onProgress?: (arrived: number, total: number) => void;
  /** An upload that was stopped can go on later: see `onOpen` and `id`. */
  signal?: AbortSignal;
  /** Told the id under which the same file can go on within a day, after a reload too. */
  onOpen?: (id: string) => void;
  /** Of an upload that was begun before; the options above are those that it was begun with. */
  id?: string;
  /** Bytes of a part. Default: a fortieth of the file, at least 4 MiB. */
  partBytes?: number;
  /** How often in a row a part may fail before any of it arrives; 8 unless stated. */
  retries?: number;
}

/** Its type is told by lists. */
export type UploadedFile = Omit<StoredFile, 'type'>;

interface State {
  offset: number;
  length: number;
  file: UploadedFile | null;
}

const leastPartBytes = 4 * 1024 * 1024;
/** Each part is a call, and an address has 60 a minute. */
const mostParts = 40;
const version = { 'Tus-Resumable': '1.0.0' };

/** Metadata of tus: names with values in Base64 of their UTF-8. */
const encode = (values: Record<string, string | undefined>) =>
  Object.entries(values)
    .filter((entry): entry is [string, string] => entry[1] !== undefined)
    .map(([name, value]) => {
      const bytes = Array.from(new TextEncoder().encode(value), (byte) =>
        String.fromCharCode(byte),
      );
      return `${name} ${btoa(bytes.join(''))}`;
    })
    .join(',');

/** The call before is still at work, or the offset was another: asking for the offset settles both. */
const mayGoOn = (error: BacklotError) => isPassing(error) || [409, 423, 500].includes(error.status);

/**
 * Uploads a file of any size, and goes on where it stopped when the connection breaks or the server restarts.
 * @throws BacklotError, also `not_found` for an `id` that is over
 * @example
 * import { uploadInParts } from '@backlot/client/uploads';
 * const { url } = await uploadInParts(client, file, { onProgress: (sent, total) => show(sent / total) });
 */
export const uploadInParts = async (
  { transport }: { transport: Transport },
  file: Blob,
  options: PartsOptions = {},
): Promise<UploadedFile> => {
  const { signal, retries = 8, onProgress } = options;
  const { size } = file;
  const partBytes = options.partBytes ?? Math.max(leastPartBytes, Math.ceil(size / mostParts));

  const open = async () => {
    const filename = options.name ?? (file as { name?: string }).name ?? 'file';
    const { visibility, groupId } = options;
    const metadata = encode({ filename, visibility, groupId });
    const { id } = await transport.call<{ id: string }>('POST', '/storage/tus', {
      headers: { ...version, 'Upload-Length': String(size), 'Upload-Metadata': metadata },
      signal,
    });
    options.onOpen?.(id);
    return id;
  };
  const path = `/storage/tus/${encodeURIComponent(options.id ?? (await open()))}`;

  const ask = async (): Promise<State> => {
    const state = await transport.call<State>('GET', path, { headers: version, signal });
    if (state.length !== size)
      throw new Error(`The upload is of another file, of ${state.length} bytes.`);
    onProgress?.(state.offset, size);
    return state;
  };
  const send = (offset: number) =>
    transport.send('PATCH', path, {
      headers: {
        ...version,
        'Upload-Offset': String(offset),
        'Content-Type': 'application/offset+octet-stream',
      },
      body: file.slice(offset, offset + partBytes),
      signal,
    });

  let arrived = 0;
  // One of no bytes is a file already.
  let isKnown = options.id === undefined && size > 0;
  for (let failures = 0; ; ) {
    try {
      if (!isKnown) {
        const state = await ask();
        if (state.file) return state.file;
        if (state.offset > arrived) failures = 0;
        arrived = state.offset;
      }
      await send(arrived);
      failures = 0;
      arrived = Math.min(arrived + partBytes, size);
      isKnown = arrived < size;
      if (isKnown) onProgress?.(arrived, size);
    } catch (error) {
      const failure = error as BacklotError;
      if (signal?.aborted || !mayGoOn(failure) || failures >= retries) throw error;
      const pauseMs = pauseMsAfter(failure, failures++);
      if (pauseMs > maxWaitMs) throw error;
      await wait(pauseMs, signal);
      isKnown = false;
    }
  }
};
