import { z } from 'zod';
import { callers, defineRoute, forgiving, indifferent, MIB } from '../define-route.ts';
import { creditMillicredits, type Tariff } from '../prices.ts';
import { idInPath, listOf, listQuery, ok, text, timestamp, uuid } from '../schemas.ts';

/** docs/api.md, "Files": a project's setting `maxUploadBytes` may go up to this. */
export const largestUploadBytes = 5 * 1024 * MIB;
/** Where a project has set nothing. */
export const defaultUploadBytes = 50 * MIB;
/** What the form around the file may take: boundaries, part heads, fields. */
const formBytes = MIB;
const maxSignedSeconds = 7 * 24 * 3600;

/** A credit for each started 10 MB, however the file comes; an empty one costs what the smallest does. */
export const uploadPrice = {
  operationId: 'uploadFile',
  quantity: 'bytes',
  unitSize: 10 * MIB,
  chargesStartedUnits: true,
  millicreditsPerUnit: creditMillicredits,
  minimumUnits: 1,
  chargesNone: true,
} as const satisfies Tariff;

const visibility = z.enum(['public', 'private']);
export type Visibility = z.infer<typeof visibility>;

/** Whom a new file is for. */
export const fileAudience = z.object({
  visibility: visibility
    .optional()
    .describe('public, or private with groupId, unless stated; private: see docs, "Files"'),
  groupId: uuid
    .optional()
    .describe('A group that the caller is in: the file belongs to it, and opens to its members'),
});

const uploaded = z.object({
  id: uuid,
  url: z.string(),
  name: z.string(),
  size: z.int().min(0).describe('Bytes'),
});
const typed = uploaded
  .extend({
    type: z.string().describe('Media type, told from the content'),
  })
  .meta({ id: 'UploadedFile' });
const listed = typed
  .extend({
    visibility,
    ownerId: uuid.nullable().describe('The user who uploaded it'),
    groupId: uuid.nullable().describe('The group that it belongs to'),
    createdAt: timestamp,
  })
  .meta({ id: 'StoredFile' });
export type StoredFile = z.infer<typeof listed>;

const filesQuery = listQuery.extend({
  group: uuid.optional().describe('All files of this group'),
});

const side = z.coerce.number<string>().int().min(1).max(4096).optional();

const base = { service: 'storage', plane: 'runtime' } as const;
const inPart = 'The name is that of the part "file"; with the client: upload(file, { name }).';
const byAudience = 'Who may read a file is said by "visibility" (public or private) and "groupId".';
const keptUntilDeleted =
  'Files stay until they are deleted: DELETE /storage/files/<id>. An address that ends: POST /storage/files/<id>/sign.';
const ownerIsCaller = 'A file belongs to the user who uploads it.';
/** Of a form or of a resumable upload's metadata. */
export const refusedWithUploads = {
  ...{ access: byAudience, acl: byAudience, permission: byAudience, permissions: byAudience },
  ...{ public: byAudience, private: byAudience, isPublic: byAudience, isPrivate: byAudience },
  ...{ group: byAudience, sharedWith: byAudience, role: byAudience, roles: byAudience },
  ...{ visibility: byAudience, groupId: byAudience },
  ...{ ttl: keptUntilDeleted, expiresIn: keptUntilDeleted, expiresAt: keptUntilDeleted },
  ...{ expires: keptUntilDeleted, expiry: keptUntilDeleted },
  ...{ ownerId: ownerIsCaller, owner: ownerIsCaller, userId: ownerIsCaller },
} as const;
const noFolders = 'There are no folders: keep the id of a file in a record.';
const oneFile = z.object({ id: idInPath });
const changedBy = ['user', 'owner', 'key', 'operator'] as const;

export const uploadFile = defineRoute({
  ...base,
  ...forgiving,
  operationId: 'uploadFile',
  method: 'POST',
  path: '/storage/upload',
  summary: 'Upload a file',
  callers,
  limit: 'upload',
  takes: 'multipart',
  body: fileAudience.extend({ file: z.file().describe('One part with a file name') }),
  refuses: refusedWithUploads,
  elsewhere: {
    ...{ name: inPart, fileName: inPart, filename: inPart },
    ...{ path: noFolders, folder: noFolders, bucket: noFolders },
  },
  bodyLimitBytes: largestUploadBytes + formBytes,
  response: typed,
  status: 201,
  errors: ['invalid_body', 'forbidden', 'out_of_credits', 'storage_quota', 'overloaded'],
  price: {
    ...uploadPrice,
    needsBody: false,
    endsWithCaller: true,
    worstCase: ({ contentLength, settings }) => {
      const limitBytes = settings.maxUploadBytes ?? defaultUploadBytes;
      return Math.min(contentLength ?? limitBytes, limitBytes);
    },
  },
});

export const openUpload = defineRoute({
  ...base,
  operationId: 'openUpload',
  method: 'POST',
  path: '/storage/uploads',
  summary: 'Open an upload that goes to the store itself: a form with these fields, then `file`',
  callers,
  limit: 'upload',
  body: fileAudience.extend({
    name: text(1, 1000),
    size: z.int().min(1).max(largestUploadBytes).describe('Bytes, at most'),
  }),
  response: z.object({
    id: uuid,
    url: z.string().describe('Takes a POST of multipart/form-data'),
    fields: z.record(z.string(), z.string()),
    expiresAt: timestamp,
  }),
  status: 201,
  errors: ['invalid_body', 'forbidden', 'storage_quota', 'conflict', 'overloaded'],
});

export const completeUpload = defineRoute({
  ...base,
  operationId: 'completeUpload',
  method: 'POST',
  path: '/storage/uploads/:id/complete',
  summary: 'Make a file of what the store has got',
  callers,
  limit: 'upload',
  params: oneFile,
  response: typed,
  status: 201,
  errors: [
    ...(['not_found', 'forbidden', 'conflict', 'body_too_large'] as const),
    ...(['out_of_credits', 'storage_quota', 'overloaded'] as const),
  ],
  price: {
    ...uploadPrice,
    needsBody: false,
    worstCase: ({ settings }) => settings.maxUploadBytes ?? defaultUploadBytes,
  },
});

export const tusVersion = '1.0.0';
export const tusExtensions = 'creation,expiration,termination';

/** What tus-js-client and its like speak: https://tus.io/protocols/resumable-upload, version 1.0.0. */
const resumable = { ...base, callers, errors: ['invalid_header', 'precondition_failed'] } as const;

export const createResumable = defineRoute({
  ...resumable,
  operationId: 'createResumable',
  method: 'POST',
  path: '/storage/tus',
  summary:
    'Open a resumable upload (tus 1.0.0): Upload-Length, and `filename`, `visibility` and `groupId` in Upload-Metadata. A length of 0 makes an empty file, and pays for it; any other costs nothing yet',
  limit: 'upload',
  response: z.object({
    id: uuid,
    expiresAt: timestamp,
    file: uploaded
      .nullable()
      .describe('Where Upload-Length is 0; X-File-Id and X-File-Url too. Else null'),
  }),
  status: 201,
  errors: [
    ...resumable.errors,
    ...(['forbidden', 'body_too_large', 'unsupported_media_type'] as const),
    ...(['out_of_credits', 'storage_quota', 'overloaded'] as const),
  ],
  price: {
    ...uploadPrice,
    needsBody: false,
    worstCase: () => 0,
    appliesTo: ({ header }) => header('upload-length') === '0',
  },
});

export const getResumable = defineRoute({
  ...resumable,
  operationId: 'getResumable',
  method: 'GET',
  path: '/storage/tus/:id',
  summary: 'How far a resumable upload has come (tus asks by HEAD); ends a call that sends to it',
  limit: 'read',
  params: oneFile,
  response: z.object({
    id: uuid,
    offset: z.int().min(0).describe('Bytes that have arrived'),
    length: z.int().min(0).describe('Bytes in all'),
    expiresAt: timestamp,
    file: uploaded.nullable().describe('Once all of it has arrived; X-File-Id and X-File-Url too'),
  }),
  status: 200,
  errors: [...resumable.errors, 'not_found', 'forbidden', 'locked', 'storage_quota'],
});

export const appendResumable = defineRoute({
  ...resumable,
  operationId: 'appendResumable',
  method: 'PATCH',
  path: '/storage/tus/:id',
  summary: 'The next bytes of a resumable upload; the last ones make the file, and pay for it',
  limit: 'upload',
  takes: 'bytes',
  params: oneFile,
  body: z.file(),
  bodyLimitBytes: largestUploadBytes,
  response: z.undefined(),
  status: 204,
  errors: [
    ...resumable.errors,
    ...(['not_found', 'conflict', 'locked', 'body_too_large', 'unsupported_media_type'] as const),
    ...(['forbidden', 'out_of_credits', 'storage_quota', 'overloaded'] as const),
  ],
  price: {
    ...uploadPrice,
    needsBody: false,
    endsWithCaller: true,
    worstCase({ contentLength, header, settings }) {
      const limitBytes = settings.maxUploadBytes ?? defaultUploadBytes;
      const reached = Number(header('upload-offset')) + Number(contentLength);
      return Number.isNaN(reached) ? limitBytes : Math.min(reached, limitBytes);
    },
  },
});

export const deleteResumable = defineRoute({
  ...resumable,
  operationId: 'deleteResumable',
  method: 'DELETE',
  path: '/storage/tus/:id',
  summary: 'Give a resumable upload up',
  limit: 'write',
  params: oneFile,
  response: z.undefined(),
  status: 204,
  errors: [...resumable.errors, 'not_found', 'conflict'],
});

export const listFiles = defineRoute({
  ...base,
  operationId: 'listFiles',
  method: 'GET',
  path: '/storage/files',
  summary: 'Own files, or those of a group, newest first',
  callers: ['user'],
  limit: 'read',
  query: filesQuery,
  response: listOf(listed),
  status: 200,
  errors: ['invalid_query', 'invalid_cursor', 'not_found'],
});

export const getFile = defineRoute({
  ...base,
  ...indifferent,
  operationId: 'getFile',
  method: 'GET',
  path: '/storage/files/:id/:name',
  summary: 'The content of a file, or a part of it (Range)',
  callers,
  limit: 'read',
  params: z.object({ id: idInPath, name: z.string() }),
  query: z.object({
    width: side.describe('Of an image: it is made smaller, never larger'),
    height: side,
    fit: z
      .enum(['inside', 'cover', 'contain'])
      .optional()
      .describe('Where both sides are given; inside without it'),
    format: z.enum(['webp', 'avif', 'jpeg', 'png']).optional().describe('Of an image'),
    expires: text(1, 20).optional().describe('Of a signed address'),
    signature: text(1, 100).optional().describe('Of a signed address'),
  }),
  response: z.unknown(),
  answers: 'file',
  badCredentials: 'reach-service',
  status: 200,
  errors: ['invalid_query', 'not_found', 'range_not_satisfiable', 'storage_quota', 'overloaded'],
});

export const signFile = defineRoute({
  ...base,
  operationId: 'signFile',
  method: 'POST',
  path: '/storage/files/:id/sign',
  summary: 'An address that opens a file for a while, to whoever has it',
  callers: changedBy,
  limit: 'write',
  params: oneFile,
  body: z.object({ expiresIn: z.int().min(1).max(maxSignedSeconds).describe('Seconds') }),
  response: z.object({ url: z.string(), expiresAt: timestamp }),
  status: 200,
  errors: ['invalid_body', 'not_found', 'forbidden'],
});

export const deleteFile = defineRoute({
  ...base,
  operationId: 'deleteFile',
  method: 'DELETE',
  path: '/storage/files/:id',
  summary: 'Delete a file',
  callers: changedBy,
  limit: 'write',
  params: oneFile,
  response: ok,
  status: 200,
  errors: ['not_found', 'forbidden'],
});

export const listProjectFiles = defineRoute({
  operationId: 'listProjectFiles',
  service: 'storage',
  plane: 'platform',
  method: 'GET',
  path: '/projects/:projectId/files',
  summary: 'All files of a project, newest first, with their totals',
  callers: ['owner', 'key', 'operator'],
  limit: 'read',
  params: z.object({ projectId: idInPath }),
  query: filesQuery,
  response: listOf(listed).extend({
    totalFiles: z.int().min(0),
    totalBytes: z.int().min(0),
    quotaBytes: z.int().min(0),
  }),
  status: 200,
  errors: ['invalid_query', 'invalid_cursor'],
});
