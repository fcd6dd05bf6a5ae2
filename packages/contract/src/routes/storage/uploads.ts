import { z } from 'zod';
import { callers, defineRoute, forgiving, MIB } from '../../define-route.ts';
import { idInPath, text, timestamp, uuid } from '../../schemas.ts';
import { typed } from './stored-file.ts';
import {
  defaultUploadBytes,
  fileAudience,
  largestUploadBytes,
  refusedWithUploads,
  uploadPrice,
} from './upload-fields.ts';

/** What the form around the file may take: boundaries, part heads, fields. */
const formBytes = MIB;

const base = { service: 'storage', plane: 'runtime' } as const;

const inPart = 'The name is that of the part "file"; with the client: upload(file, { name }).';

const noFolders = 'There are no folders: keep the id of a file in a record.';

const oneFile = z.object({ id: idInPath });

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
    name: inPart,
    fileName: inPart,
    filename: inPart,
    path: noFolders,
    folder: noFolders,
    bucket: noFolders,
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
    'not_found',
    'forbidden',
    'conflict',
    'body_too_large',
    'out_of_credits',
    'storage_quota',
    'overloaded',
  ],
  price: {
    ...uploadPrice,
    needsBody: false,
    worstCase: ({ settings }) => settings.maxUploadBytes ?? defaultUploadBytes,
  },
});
