import type { StoredFile, Transport } from './sdk.js';
/**
 * Uploads that outlive a broken connection: a file goes in parts (tus 1.0.0), and what has arrived is not sent
 * again. Stands beside the client, which most pages need alone.
 */
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
/**
 * Uploads a file of any size, and goes on where it stopped when the connection breaks or the server restarts.
 * @throws BacklotError, also `not_found` for an `id` that is over
 * @example
 * import { uploadInParts } from '@backlot/client/uploads';
 * const { url } = await uploadInParts(client, file, { onProgress: (sent, total) => show(sent / total) });
 */
export declare const uploadInParts: ({ transport }: {
    transport: Transport;
}, file: Blob, options?: PartsOptions) => Promise<UploadedFile>;
