import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { listOf, timestamp } from '../../schemas.ts';

const base = { service: 'projects', plane: 'platform', callers: ['operator'] } as const;

const backupId = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be 64 of 0 to 9 and a to f')
  .describe('What stands in its manifest.sha256');

const count = z.int().min(0);
const time = z.iso.datetime({ offset: true });

const facts = {
  release: z.string().min(1).max(100).describe('By which it was made'),
  sizeBytes: count.describe('All parts'),
  rows: count,
  files: count,
  lostFiles: count.describe('Whose bytes the store had lost before'),
  place: z.string().min(1).max(300).describe('Where it lies, for people: machine and folder'),
  keyIds: z
    .array(z.string().regex(/^[0-9a-f]{16}$/))
    .max(20)
    .describe('Master keys that open what is sealed in it, as `GET /sealed-secrets` names them'),
};

const backup = z
  .object({
    id: backupId,
    beganAt: timestamp.describe('All that was acknowledged before is in it'),
    endedAt: timestamp,
    ...facts,
    notedBy: z.string().describe('The operator who told of it first'),
    verifiedAt: timestamp.nullable().describe('When all its parts were last found as written'),
    verifiedBy: z.string().nullable(),
  })
  .meta({ id: 'Backup' });

export type KnownBackup = z.infer<typeof backup>;

export const noteBackup = defineRoute({
  ...base,
  operationId: 'noteBackup',
  operatorScope: 'support',
  method: 'PUT',
  path: '/backups/:backupId',
  summary: 'Tell of a back-up that was made, or verified; `pnpm ops backup` and `restore` do',
  limit: 'write',
  params: z.object({ backupId }),
  body: z.strictObject({
    beganAt: time,
    endedAt: time,
    ...facts,
    isVerified: z.boolean().default(false).describe('All its parts were read just now'),
  }),
  response: backup,
  status: 200,
  errors: ['invalid_body'],
});

export const listBackups = defineRoute({
  ...base,
  operationId: 'listBackups',
  method: 'GET',
  path: '/backups',
  summary: 'The newest 100 back-ups that were told of, and when one is due',
  limit: 'read',
  response: listOf(backup).extend({
    overdueAt: timestamp
      .nullable()
      .describe('When Health warns, or has since; null where it never does'),
  }),
  status: 200,
  errors: [],
});
