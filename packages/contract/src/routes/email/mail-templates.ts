import { z } from 'zod';
import { defineRoute, KIB } from '../../define-route.ts';
import { noticeKinds } from '../../events/mails.ts';
import { callerWords } from '../../rules/caller-words.ts';
import { idInPath, jsonObject, listOf, ok, text, timestamp } from '../../schemas.ts';
import { mailFields } from './mail-fields.ts';

export type { MailField, MailFields, MailValueField } from './mail-fields.ts';

export const maxMailTemplates = 100;
export const maxMailDataBytes = 32 * KIB;
const maxHtmlBytes = 64 * KIB;
const maxTextBytes = 32 * KIB;

/** Words for mails that the platform sends by itself: their fields are given (docs/owners.md). */
export const accountTemplateNames = [
  'account.verify',
  'account.reset',
  'account.invite',
  'account.change-email',
  'account.allow-change',
  'account.code',
  ...noticeKinds.map((kind) => `account.${kind}` as const),
] as const;
export type AccountTemplateName = (typeof accountTemplateNames)[number];

const names: readonly string[] = accountTemplateNames;
export const mailTemplateName = z
  .string()
  .max(63, { abort: true })
  .refine(
    (name) => /^[a-z][a-z0-9_-]*$/.test(name) || names.includes(name),
    `must match ^[a-z][a-z0-9_-]{0,62}$, or be one of ${names.join(', ')}`,
  );

const utf8 = new TextEncoder();
const utf8Text = (maxBytes: number) =>
  text(1, maxBytes).refine(
    (value) => utf8.encode(value).length <= maxBytes,
    `may have at most ${maxBytes} bytes`,
  );

const worded = {
  subject: text(1, 200).refine(
    (value) => !/\p{Cc}|\u2028|\u2029/u.test(value),
    'must be one line without control characters',
  ),
  html: utf8Text(maxHtmlBytes),
  text: utf8Text(maxTextBytes).optional(),
};
const sentTo = z.enum(['caller', 'owner', 'anyone']);

const body = z.strictObject({
  ...worded,
  to: sentTo
    .optional()
    .describe('To whose address it goes: the caller’s own verified one, the project owner’s, any'),
  callers: callerWords
    .optional()
    .describe('Which visitors may send it; `users` unless stated. The owner and keys always may'),
  fields: mailFields.optional().describe('What `data` of a mail holds, by name'),
});
export type MailTemplateBody = z.infer<typeof body>;

const summary = z.object({
  name: z.string(),
  subject: z.string(),
  to: sentTo.optional().describe('Absent for words of account mails'),
  callers: z.array(z.string()).optional(),
  fields: mailFields,
  updatedAt: timestamp,
});
const template = summary
  .extend({ html: z.string(), text: z.string().optional() })
  .meta({ id: 'MailTemplate' });
export type MailTemplate = z.infer<typeof template>;

const base = {
  service: 'email',
  plane: 'platform',
  callers: ['owner', 'key', 'operator'],
} as const;
const path = '/projects/:projectId/mail-templates';
const oneProject = z.object({ projectId: idInPath });
const oneTemplate = oneProject.extend({ name: idInPath });

export const setMailTemplate = defineRoute({
  ...base,
  operationId: 'setMailTemplate',
  method: 'PUT',
  path: `${path}/:name`,
  summary: 'Word a mail that calls name as "template", and whose words no visitor can change',
  limit: 'write',
  params: oneProject.extend({ name: mailTemplateName }),
  body,
  response: template,
  status: 200,
  errors: ['invalid_path', 'invalid_body', 'template_limit', 'unavailable'],
});

export const listMailTemplates = defineRoute({
  ...base,
  operationId: 'listMailTemplates',
  method: 'GET',
  path,
  summary: 'All mail templates of a project by name, without their words; there are at most 100',
  limit: 'read',
  params: oneProject,
  response: listOf(summary).extend({
    advice: z.string().optional().describe('What its owner should know of the mails of visitors'),
  }),
  status: 200,
  errors: ['not_found', 'unavailable'],
});

export const getMailTemplate = defineRoute({
  ...base,
  operationId: 'getMailTemplate',
  method: 'GET',
  path: `${path}/:name`,
  summary: 'One mail template',
  limit: 'read',
  params: oneTemplate,
  response: template,
  status: 200,
  errors: ['not_found'],
});

export const deleteMailTemplate = defineRoute({
  ...base,
  operationId: 'deleteMailTemplate',
  method: 'DELETE',
  path: `${path}/:name`,
  summary: 'Delete a mail template; calls that name it are refused from then on',
  limit: 'write',
  params: oneTemplate,
  response: ok,
  status: 200,
  errors: ['not_found'],
});

export const previewMailTemplate = defineRoute({
  ...base,
  operationId: 'previewMailTemplate',
  operatorScope: 'read',
  changesNothing: true,
  memberRole: 'viewer',
  method: 'POST',
  path: `${path}/:name/preview`,
  summary: 'What a mail would say, without sending it; account mails are shown with samples',
  limit: 'write',
  params: oneTemplate,
  body: z.strictObject({ data: jsonObject(maxMailDataBytes).optional() }),
  response: z.object({ subject: z.string(), html: z.string(), text: z.string().optional() }),
  status: 200,
  errors: ['invalid_body', 'conflict', 'not_found', 'unavailable'],
});
