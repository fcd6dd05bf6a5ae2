import { pathBelow } from '../path.ts';
import { refuseFailure, type Transport, unreachable } from '../transport.ts';

export interface StoredFile {
  id: string;
  url: string;
  name: string;
  /** Bytes. */
  size: number;
  /** Media type, told from the content. */
  type: string;
}

/** As lists show it. */
export interface ListedFile extends StoredFile {
  visibility: 'public' | 'private';
  ownerId: string | null;
  groupId: string | null;
  /** The record whose readers may open it. */
  recordId: string | null;
  createdAt: string;
}

export interface UploadOptions {
  /** Default: the file's own. */
  name?: string;
  /** Default: public, or private with `groupId` or `recordId`. */
  visibility?: 'public' | 'private';
  /** A group that the signed-in user is in: the file belongs to it, and opens to its members. */
  groupId?: string;
  /** A record that the caller may change, with its collection: the file opens to those who may read it. */
  recordId?: string;
  collection?: string;
  /** Told how many bytes have gone: in browsers as they go, elsewhere at the end. */
  onProgress?: (sent: number, total: number) => void;
  signal?: AbortSignal;
}

interface ProgressRequest {
  status: number;
  responseText: string;
  upload: { onprogress: ((event: { loaded: number; total: number }) => void) | null };
  onload: (() => void) | null;
  onerror: (() => void) | null;
  onabort: (() => void) | null;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  getResponseHeader(name: string): string | null;
  send(body: FormData): void;
  abort(): void;
}

/** fetch does not tell how much of a body has gone. */
const sendWithProgress = (
  request: ProgressRequest,
  { url, authorization, form }: { url: string; authorization: string | undefined; form: FormData },
  { onProgress, signal }: UploadOptions,
) =>
  new Promise<Response>((resolve, reject) => {
    request.open('POST', url);
    if (authorization !== undefined) request.setRequestHeader('Authorization', authorization);
    request.upload.onprogress = ({ loaded, total }) => onProgress?.(loaded, total);
    request.onload = () => {
      const retryAfter = request.getResponseHeader('retry-after');
      const headers: Record<string, string> =
        retryAfter === null ? {} : { 'retry-after': retryAfter };
      resolve(new Response(request.responseText, { status: request.status, headers }));
    };
    request.onerror = () => reject(unreachable());
    request.onabort = () => reject(signal?.reason);
    if (signal?.aborted) return reject(signal.reason);
    signal?.addEventListener('abort', () => request.abort(), { once: true });
    request.send(form);
  });

const takes = 'upload takes a File or Blob: storage.upload(file, { name, onProgress })';

const pathTo = (...parts: string[]) => pathBelow('/storage/files', ...parts);

export type Storage = ReturnType<typeof createStorage>;

export const createStorage = ({ call, send, url, authorization, viewAs }: Transport) => ({
  async upload(file: Blob, options: UploadOptions = {}): Promise<StoredFile> {
    const { name, onProgress, signal, ...fields } = options;
    const isWrong = Object.values(fields).some((value) => typeof value === 'function');
    if (isWrong || typeof options !== 'object' || file?.size === undefined)
      throw new TypeError(takes);
    const form = new FormData();
    // What is to be known of a file stands before it. What is not known here goes too: the server names it.
    for (const [field, value] of Object.entries(fields))
      if (value !== undefined) form.set(field, String(value));
    form.set('file', file, name ?? (file as { name?: string }).name ?? 'file');
    const { XMLHttpRequest } = globalThis as { XMLHttpRequest?: new () => ProgressRequest };
    if (onProgress && XMLHttpRequest && viewAs === undefined) {
      const sent = {
        url: url('/storage/upload'),
        authorization: await authorization(),
        form,
      };
      const answer = await sendWithProgress(new XMLHttpRequest(), sent, options);
      return (await refuseFailure(answer)).json() as Promise<StoredFile>;
    }
    const stored = await call<StoredFile>('POST', '/storage/upload', {
      body: form,
      signal,
      canRepeat: false,
    });
    onProgress?.(file.size, file.size);
    return stored;
  },
  /** The signed-in user's files, or those of a group, newest first. */
  list: (options: { group?: string; limit?: number; cursor?: string } = {}) =>
    call<{ items: ListedFile[]; hasMore: boolean; nextCursor: string | null }>('GET', pathTo(), {
      query: options,
    }),
  /** An address that opens a private file for so many seconds, to whoever has it. */
  sign: (id: string, expiresIn: number) =>
    call<{ url: string; expiresAt: string }>('POST', pathTo(id, 'sign'), {
      body: { expiresIn },
    }),
  /**
   * The content of a file that the caller may see, for `img.src = URL.createObjectURL(await storage.open(id))`:
   * an address by itself opens public files alone.
   * @param image makes a smaller one of it
   */
  open: async (
    id: string,
    image: { width?: number; height?: number; fit?: string; format?: string } = {},
  ): Promise<Blob> => (await send('GET', pathTo(id, 'file'), { query: image })).blob(),
  /** Opens an own file to those who may read the record; null to nobody else again. */
  attach: (id: string, record: { collection: string; recordId: string } | { recordId: null }) =>
    call<{ id: string; recordId: string | null; visibility: 'public' | 'private' }>(
      'POST',
      pathTo(id, 'attach'),
      { body: record },
    ),
  async delete(id: string): Promise<void> {
    await call('DELETE', pathTo(id), { canRepeat: false });
  },
});
