import { z } from 'zod';
import { defineRoute, MIB } from '../../define-route.ts';
import { timestamp, uuid } from '../../schemas.ts';
import {
  base,
  change,
  changesSomething,
  data,
  groupId,
  inCollection,
  needsChange,
} from './schemas/record-schemas.ts';

/** docs/api.md, "Batches". */
export const maxBatchOperations = 500;
const written = z.object({ id: uuid, updatedAt: timestamp }).meta({ id: 'WrittenRecord' });
const operations = {
  create: z.array(z.object({ data, groupId })).max(maxBatchOperations).default([]),
  update: z
    .array(change.extend({ id: uuid }).refine(changesSomething, needsChange))
    .max(maxBatchOperations)
    .default([]),
  delete: z.array(uuid).max(maxBatchOperations).default([]),
};

export const writeBatch = defineRoute({
  ...base,
  operationId: 'writeBatch',
  method: 'POST',
  path: '/db/:collection/_batch',
  summary: 'Create, update and delete up to 500 records, all or none',
  limit: 'write',
  weight: { itemsPerCall: 20, maxCalls: maxBatchOperations / 20 },
  params: inCollection,
  body: z.object(operations).refine((batch) => {
    const count = batch.create.length + batch.update.length + batch.delete.length;
    return count >= 1 && count <= maxBatchOperations;
  }, `needs 1 to ${maxBatchOperations} operations in "create", "update" and "delete" together`),
  bodyLimitBytes: 8 * MIB,
  response: z.object({
    create: z.array(written),
    update: z.array(written),
    delete: z.array(z.object({ id: uuid })),
  }),
  status: 200,
  errors: [
    'invalid_path',
    'invalid_body',
    'invalid_data',
    'schema_mismatch',
    'not_found',
    'forbidden',
    'collection_limit',
    'collection_creation_off',
    'quota_reached',
    'limit_reached',
    'not_unique',
  ],
});
