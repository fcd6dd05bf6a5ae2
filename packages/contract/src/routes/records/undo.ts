import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { idInPath, listOf, listQuery, ok, timestamp, uuid } from '../../schemas.ts';
import { collection } from './collections.ts';
import { changedBy, changeSeq } from './history.ts';
import { collectionName, record } from './schemas/record-schemas.ts';

const platform = {
  service: 'records',
  plane: 'platform',
  callers: ['owner', 'key', 'operator'],
} as const;
const inProject = z.object({ projectId: idInPath });

/** docs/owners.md, "History and undo". */
export const maxRestorePoints = 50;
export const maxUndoneChanges = 100_000;
export const maxListedConflicts = 1000;

const trashedRecord = z
  .object({
    collection: z.string(),
    seq: changeSeq.describe('POST /db/<collection>/<id>/_restore takes it'),
    deletedAt: timestamp,
    ...changedBy,
    record: record.describe('As it was last'),
  })
  .meta({ id: 'TrashedRecord' });
export type TrashedRecord = z.infer<typeof trashedRecord>;

export const listTrash = defineRoute({
  ...platform,
  operationId: 'listTrash',
  method: 'GET',
  path: '/projects/:projectId/trash',
  summary: 'Records that were deleted in the last days, newest first',
  limit: 'read',
  params: inProject,
  query: listQuery.extend({ collection: collectionName.optional() }),
  response: listOf(trashedRecord),
  status: 200,
  errors: ['not_found', 'invalid_query', 'invalid_cursor'],
});

/** Of a project: from then on the oldest ones are erased. */
export const maxTrashedCollections = 100;

const howEnded = z.enum(['deleted', 'emptied']);
const trashedCollection = z
  .object({
    name: z.string(),
    how: howEnded,
    records: z.int().min(0),
    sizeBytes: z.int().min(0).describe('That count until they are erased'),
    deletedAt: timestamp,
    keptUntil: timestamp.describe('It is erased then, or before where its room is needed'),
    ...changedBy,
  })
  .meta({ id: 'TrashedCollection' });
export type TrashedCollection = z.infer<typeof trashedCollection>;

export const listTrashedCollections = defineRoute({
  ...platform,
  operationId: 'listTrashedCollections',
  method: 'GET',
  path: '/projects/:projectId/trash/collections',
  summary: 'Collections that were deleted or emptied and can come back, newest first',
  limit: 'read',
  params: inProject,
  response: listOf(trashedCollection),
  status: 200,
  errors: ['not_found'],
});

const deletedAt = z.iso
  .datetime({ offset: true })
  .optional()
  .describe('Of several of the name, as the list has it');

export const restoreCollection = defineRoute({
  ...platform,
  operationId: 'restoreCollection',
  operatorScope: 'support',
  method: 'POST',
  path: '/projects/:projectId/collections/:collection/restore',
  summary: 'Bring a deleted collection back, or what an emptied one had',
  limit: 'write',
  params: inProject.extend({ collection: collectionName }),
  body: z.strictObject({
    name: collectionName.optional().describe('Another one than before'),
    deletedAt: deletedAt.describe('Of several of the name; the newest unless stated'),
  }),
  response: collection,
  status: 200,
  errors: ['invalid_path', 'invalid_body', 'not_found', 'conflict', 'collection_limit'],
});

export const eraseTrashedCollection = defineRoute({
  ...platform,
  operationId: 'eraseTrashedCollection',
  method: 'DELETE',
  path: '/projects/:projectId/trash/collections/:collection',
  summary: 'Erase deleted collections of a name at once',
  limit: 'write',
  params: inProject.extend({ collection: collectionName }),
  query: z.object({
    deletedAt: deletedAt.describe('Only this one; all of the name unless stated'),
  }),
  response: ok.extend({ count: z.int().min(1).describe('Collections') }),
  status: 200,
  errors: ['invalid_path', 'invalid_query', 'not_found'],
});

export const pointName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/, {
  error: 'must be 1-63 of A-Z, a-z, 0-9, _, . and -, starting with a letter or digit',
});
const restorePoint = z
  .object({ name: z.string(), createdAt: timestamp })
  .meta({ id: 'RestorePoint' });
export type RestorePoint = z.infer<typeof restorePoint>;

export const createRestorePoint = defineRoute({
  ...platform,
  operationId: 'createRestorePoint',
  operatorScope: 'support',
  method: 'POST',
  path: '/projects/:projectId/restore-points',
  summary: 'Name the state of all records, to bring them back to it by an undo',
  limit: 'write',
  params: inProject,
  body: z.strictObject({ name: pointName }),
  response: restorePoint,
  status: 201,
  errors: ['not_found', 'invalid_body', 'conflict', 'limit_reached'],
});

export const listRestorePoints = defineRoute({
  ...platform,
  operationId: 'listRestorePoints',
  method: 'GET',
  path: '/projects/:projectId/restore-points',
  summary: 'Restore points, newest first',
  limit: 'read',
  params: inProject,
  response: listOf(restorePoint),
  status: 200,
  errors: ['not_found'],
});

export const deleteRestorePoint = defineRoute({
  ...platform,
  operationId: 'deleteRestorePoint',
  method: 'DELETE',
  path: '/projects/:projectId/restore-points/:name',
  summary: 'Delete a restore point',
  limit: 'write',
  params: inProject.extend({ name: idInPath }),
  response: ok,
  status: 200,
  errors: ['not_found'],
});

const actorName = z
  .string()
  .regex(/^((user|key|member):[0-9a-fA-F-]{36}|owner|operator|visitor)$/, {
    error:
      'must be user:<id>, key:<id>, member:<id>, owner, operator or visitor, as "by" of a history says',
  })
  .transform((text) => text.toLowerCase());

const isOneGiven = ({ since, restorePoint }: { since?: unknown; restorePoint?: unknown }) =>
  (since === undefined) !== (restorePoint === undefined);

const endedCollection = {
  collection: z.string(),
  how: howEnded,
  records: z.int(),
  at: timestamp,
};

const undo = z
  .object({
    id: uuid,
    state: z.enum(['running', 'done', 'failed']),
    dryRun: z.boolean(),
    since: timestamp,
    changes: z.int().min(0).describe('That were found to be undone'),
    created: z.int().min(0).describe('Records that came back'),
    updated: z.int().min(0),
    deleted: z.int().min(0),
    conflicts: z
      .array(z.object({ collection: z.string(), id: uuid, reason: z.string() }))
      .describe(
        `Records that were left alone, the first ${maxListedConflicts}: changed (by others, or since it began), or the code of what refused them, such as not_unique`,
      ),
    conflictCount: z.int().min(0),
    collections: z
      .array(z.object(endedCollection))
      .describe('That were deleted or emptied meanwhile and came back as they were then'),
    notUndone: z
      .array(
        z.object({
          ...endedCollection,
          reason: z
            .string()
            .describe(
              'erased, or the code of what refused it: conflict, where another one has the name',
            ),
        }),
      )
      .describe('Those that did not come back'),
    error: z.string().optional().describe('Why it has failed'),
    startedAt: timestamp,
    endedAt: timestamp.nullable(),
  })
  .meta({ id: 'Undo' });
export type Undo = z.infer<typeof undo>;

export const undoChanges = defineRoute({
  ...platform,
  operationId: 'undoChanges',
  method: 'POST',
  path: '/projects/:projectId/undo',
  summary: 'Take back what was changed since a time or restore point, by anybody or one actor',
  limit: 'write',
  params: inProject,
  body: z
    .strictObject({
      since: z.iso.datetime({ offset: true }).optional().describe('A time; or restorePoint'),
      restorePoint: pointName.optional(),
      actor: actorName
        .optional()
        .describe('user:<id>, key:<id>, member:<id>, owner, operator or visitor'),
      requestId: z
        .string()
        .regex(/^[\x20-\x7e]{1,200}$/, { error: 'must be 1-200 characters of ASCII' })
        .optional()
        .describe('Of the call; of an undo: undo:<id>'),
      collections: z.array(collectionName).min(1).max(50).optional(),
      dryRun: z.boolean().optional().describe('Only counts what it would do'),
    })
    .refine(isOneGiven, 'needs either "since" or "restorePoint"'),
  response: undo,
  status: 200,
  errors: ['not_found', 'invalid_body', 'conflict'],
});
export type UndoRequest = z.output<typeof undoChanges.body>;

export const getUndo = defineRoute({
  ...platform,
  operationId: 'getUndo',
  method: 'GET',
  path: '/projects/:projectId/undo/:undoId',
  summary: 'How far an undo has come',
  limit: 'read',
  params: inProject.extend({ undoId: idInPath }),
  response: undo,
  status: 200,
  errors: ['not_found'],
});
