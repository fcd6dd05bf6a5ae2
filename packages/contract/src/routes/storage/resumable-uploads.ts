import { z } from 'zod';
import { callers, defineRoute } from '../../define-route.ts';
import { idInPath, timestamp, uuid } from '../../schemas.ts';
import { uploaded } from './stored-file.ts';
import { defaultUploadBytes, largestUploadBytes, uploadPrice } from './upload-fields.ts';

const base = { service: 'storage', plane: 'runtime' } as const;

const oneFile = z.object({ id: idInPath });

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
    'forbidden',
    'body_too_large',
    'unsupported_media_type',
    'out_of_credits',
    'storage_quota',
    'overloaded',
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
    'not_found',
    'conflict',
    'locked',
    'body_too_large',
    'unsupported_media_type',
    'forbidden',
    'out_of_credits',
    'storage_quota',
    'overloaded',
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
