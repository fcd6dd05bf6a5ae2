import { z } from 'zod';
import { defineRoute, MIB } from '../../define-route.ts';
import { idInPath, listOf, timestamp, uuid } from '../../schemas.ts';
import { configSectionNames, configSections } from './config-sections.ts';

const sections = configSections;

/** docs/owners.md, "Config as a file". */
export const projectConfig = z
  .strictObject({
    settings: sections.settings.entries.optional(),
    limits: sections.limits.entries
      .optional()
      .describe('Calls a minute that the owner has lowered'),
    collections: sections.collections.entries.optional(),
    roles: sections.roles.entries.optional().describe('What the users of roles may'),
    prompts: sections.prompts.entries.optional(),
    mailTemplates: sections.mailTemplates.entries.optional(),
    products: sections.products.entries.optional().describe('Without their stock'),
    onPaid: sections.onPaid.entries.optional(),
    webhooks: sections.webhooks.entries
      .optional()
      .describe('Without their secrets: a new one is had by POST …/webhooks/<name>/secret'),
  } satisfies Record<(typeof configSectionNames)[number], z.ZodType>)
  .meta({
    description:
      'What an owner has set, without secrets. A section that is left out stays as it is; an entry that a section leaves out goes, and what an entry leaves out has its default.',
  });

const configActions = ['create', 'change', 'delete', 'left'] as const;

const configChange = z
  .object({
    section: z.enum(configSectionNames),
    kind: z.string().describe('What the entry is: setting, collection and the like'),
    name: z.string(),
    action: z
      .enum(configActions)
      .describe('left: the file leaves it out, and it stays, because it has records'),
    from: z.unknown().describe('null where there is none'),
    to: z.unknown().describe('null where there is none'),
    text: z.string().describe('The change in words'),
  })
  .meta({ id: 'ConfigChange' });

export type ShownConfigChange = z.input<typeof configChange>;

export const configPlan = z
  .object({
    isDryRun: z.boolean(),
    etag: z.string().describe('Of what is set now: for If-Match'),
    changes: z.array(configChange),
  })
  .meta({ id: 'ConfigPlan' });

export type ConfigPlan = z.input<typeof configPlan>;

/** Who has applied a file, and what became of it. */
const application = z
  .object({
    id: uuid,
    state: z
      .enum(['applying', 'undoing', 'done', 'undone', 'failed'])
      .describe('undone: a part refused it, and what was there before is back'),
    by: z.object({ caller: z.enum(['owner', 'key', 'operator']), id: uuid.nullable() }),
    changes: z.array(z.string()).describe('In words; the first 100'),
    reason: z.string().nullable().describe('Why it was undone, or has failed'),
    startedAt: timestamp,
    endedAt: timestamp.nullable(),
  })
  .meta({ id: 'ConfigApplication' });

export type ConfigApplication = z.input<typeof application>;

const base = {
  service: 'projects',
  plane: 'platform',
  callers: ['owner', 'key', 'operator'],
} as const;

const oneProject = z.object({ projectId: idInPath });
const configPath = '/projects/:projectId/config';

/** All collections with their largest rules, all prompts, all products. */
export const maxConfigBytes = 8 * MIB;

export const getConfig = defineRoute({
  ...base,
  operationId: 'getConfig',
  memberRole: 'admin',
  method: 'GET',
  path: configPath,
  summary: 'What the owner has set, as one file; a key sees what it may read',
  limit: 'read',
  params: oneProject,
  response: projectConfig,
  status: 200,
  errors: ['not_found', 'conflict', 'unavailable', 'overloaded'],
});

export const setConfig = defineRoute({
  ...base,
  operationId: 'setConfig',
  method: 'PUT',
  path: configPath,
  summary: 'Apply a file whole or not at all; with dryRun=1 answer what would change',
  limit: 'write',
  params: oneProject,
  query: z.object({
    dryRun: z.enum(['1', '0', 'true', 'false', '']).optional().describe('1: nothing is changed'),
  }),
  body: projectConfig,
  bodyLimitBytes: maxConfigBytes,
  response: configPlan,
  status: 200,
  errors: [
    'invalid_query',
    'invalid_body',
    'not_found',
    'forbidden',
    'precondition_failed',
    'conflict',
    'unavailable',
    'overloaded',
    'collection_limit',
    'prompt_limit',
    'product_limit',
    'rule_limit',
    'webhook_limit',
  ],
});

export const listConfigApplications = defineRoute({
  ...base,
  callers: ['owner', 'operator'],
  operationId: 'listConfigApplications',
  method: 'GET',
  path: `${configPath}/applications`,
  summary: 'Who has applied a file and when: the last 20, newest first',
  limit: 'read',
  params: oneProject,
  response: listOf(application),
  status: 200,
  errors: ['not_found'],
});
