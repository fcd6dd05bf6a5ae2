import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { findingKinds } from '../../events/findings.ts';
import { suspendable } from '../../rights/suspensions.ts';
import { idInPath, listOf, listQuery, timestamp, uuid } from '../../schemas.ts';

const base = {
  service: 'projects',
  plane: 'platform',
  callers: ['operator'],
  status: 200,
} as const;
const act = { ...base, operatorScope: 'support', method: 'POST', limit: 'write' } as const;
const params = z.object({ findingId: idInPath });

const count = z.number().int().min(0);
const kind = z.enum(findingKinds);

const finding = z
  .object({
    id: uuid,
    kind: kind.describe(
      'mails, signUps, uploads, refusedWrites: bursts. exposure: strangers read addresses, phones, cards or keys. mailWords, fileNames, junkSignUps: signs of phishing and junk',
    ),
    projectId: z.string(),
    projectName: z.string(),
    ownerId: uuid.nullable(),
    subject: z.string().nullable().describe('Of an exposure: the collection'),
    signs: z.array(z.string()).describe('What was looked for and is there'),
    examples: z
      .array(z.string())
      .describe('The last ids of mails, files or accounts with signs; of an exposure, fields'),
    since: timestamp.describe('When it was seen first'),
    lastSeen: timestamp,
    calls: count.describe(
      'About so many since; of a burst, the most in two hours; of an exposure, reads by strangers',
    ),
    usualPerHour: z.number().min(0).optional().describe('Of a burst: over the seven days before'),
    networks: z
      .array(z.object({ address: z.string(), calls: count }))
      .optional()
      .describe('Of a burst: that called this project most'),
    capability: z.enum(suspendable).describe('Whose suspension stops it'),
    isSuspended: z.boolean().describe('Whether that is suspended already'),
    toldAt: timestamp.nullable().describe('When a mail to its owner was asked for'),
    dismissedUntil: timestamp.nullable(),
  })
  .meta({ id: 'Finding' });

export const listFindings = defineRoute({
  ...base,
  operationId: 'listFindings',
  method: 'GET',
  path: '/findings',
  summary: 'What looks like abuse, or is open to strangers, over all projects, newest first',
  limit: 'read',
  query: listQuery.extend({
    kind: kind.optional(),
    projectId: z.string().min(1).max(64).optional(),
    dismissed: z.enum(['true', 'false']).default('false').describe('true: those alone'),
  }),
  response: listOf(finding),
  errors: ['invalid_query', 'invalid_cursor'],
});

export const tellFinding = defineRoute({
  ...act,
  operationId: 'tellFinding',
  path: '/findings/:findingId/notice',
  summary: 'Mail the owner what was found and what to do, once for each finding',
  params,
  response: finding,
  errors: ['not_found', 'conflict', 'limit_reached', 'unavailable'],
});

export const dismissFinding = defineRoute({
  ...act,
  operationId: 'dismissFinding',
  path: '/findings/:findingId/dismiss',
  summary: 'Leave a finding out of the list for some days, or until it has a further sign',
  params,
  body: z.strictObject({ days: z.int().min(1).max(365).default(30) }),
  response: finding,
  errors: ['invalid_body', 'not_found'],
});

export const reopenFinding = defineRoute({
  ...act,
  operationId: 'reopenFinding',
  path: '/findings/:findingId/reopen',
  summary: 'Put a finding that was dismissed back into the list',
  params,
  response: finding,
  errors: ['not_found'],
});
