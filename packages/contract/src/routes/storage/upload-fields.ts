import { z } from 'zod';
import { MIB } from '../../define-route.ts';
import { creditMillicredits, type Tariff } from '../../prices/prices.ts';
import { uuid } from '../../schemas.ts';
import { collectionName } from '../records/schemas/record-schemas.ts';
import { visibility } from './stored-file.ts';

/** docs/api.md, "Files": a project's setting `maxUploadBytes` may go up to this. */
export const largestUploadBytes = 5 * 1024 * MIB;

/** Where a project has set nothing. */
export const defaultUploadBytes = 50 * MIB;

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

/** Whom a new file is for. */
export const fileAudience = z.object({
  visibility: visibility
    .optional()
    .describe('public, or private with groupId or recordId, unless stated; see docs, "Files"'),
  groupId: uuid
    .optional()
    .describe('A group that the caller is in: the file belongs to it, and opens to its members'),
  collection: collectionName.optional().describe('Of the record that recordId names'),
  recordId: uuid
    .optional()
    .describe('A record that the caller may change: the file opens to who may read it'),
});

const byAudience =
  'Who may read a file is said by "visibility" (public or private), "groupId", and "collection" with "recordId".';

const keptUntilDeleted =
  'Files stay until they are deleted: DELETE /storage/files/<id>. An address that ends: POST /storage/files/<id>/sign.';

const ownerIsCaller = 'A file belongs to the user who uploads it.';

/** Of a form or of a resumable upload's metadata. */
export const refusedWithUploads = {
  access: byAudience,
  acl: byAudience,
  permission: byAudience,
  permissions: byAudience,
  public: byAudience,
  private: byAudience,
  isPublic: byAudience,
  isPrivate: byAudience,
  group: byAudience,
  sharedWith: byAudience,
  role: byAudience,
  roles: byAudience,
  visibility: byAudience,
  groupId: byAudience,
  record: byAudience,
  recordId: byAudience,
  collection: byAudience,
  ttl: keptUntilDeleted,
  expiresIn: keptUntilDeleted,
  expiresAt: keptUntilDeleted,
  expires: keptUntilDeleted,
  expiry: keptUntilDeleted,
  ownerId: ownerIsCaller,
  owner: ownerIsCaller,
  userId: ownerIsCaller,
} as const;
