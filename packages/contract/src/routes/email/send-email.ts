import { z } from 'zod';
import { callers, defineRoute, forgiving, KIB, MIB } from '../../define-route.ts';
import { creditMillicredits, type Tariff } from '../../prices/prices.ts';
import { jsonObject, ok, text } from '../../schemas.ts';
import { mailTemplateName, maxMailDataBytes } from './mail-templates.ts';
import { countBytes, recipient } from './recipient.ts';

/** docs/api.md, "E-mail". */
const maxRecipients = 10;

const maxHtmlBytes = 256 * KIB;

const countAddresses = (addresses: unknown): number =>
  Array.isArray(addresses) ? addresses.length : addresses === undefined ? 0 : 1;

const countRecipients = ({ to, cc, bcc }: { to?: unknown; cc?: unknown; bcc?: unknown }) =>
  countAddresses(to) + countAddresses(cc) + countAddresses(bcc);

interface Worded {
  to?: unknown;
  data?: unknown;
  subject?: unknown;
  html?: unknown;
}

const problemsOfWords = (mail: Worded): [string, string][] => [
  ...(['to', 'subject', 'html'] as const).flatMap((name): [string, string][] =>
    mail[name] === undefined ? [[name, 'is missing']] : [],
  ),
  ...(mail.to === 'caller'
    ? [['to', 'may be "caller" beside a "template" alone'] as [string, string]]
    : []),
  ...(mail.data === undefined
    ? []
    : [['data', 'needs a "template" beside it'] as [string, string]]),
];

const problemsOfTemplate = (mail: Worded): [string, string][] =>
  (['subject', 'html'] as const).flatMap((name): [string, string][] =>
    mail[name] === undefined ? [] : [[name, 'may not stand beside "template", which has it']],
  );

const besideOwner = 'can not stand beside `"to": "owner"`, whose address nobody is told';

const mailPrice = {
  operationId: 'sendEmail',
  quantity: 'recipients',
  unitSize: 1,
  chargesStartedUnits: true,
  millicreditsPerUnit: creditMillicredits,
  minimumUnits: 1,
} as const satisfies Tariff;

const atOnce =
  'A mail goes out at once: keep what is due later in a record, and send it then from a server with a secret key.';

const asTemplate =
  'A template that the owner has set is named as "template", and its values go into "data".';

/** docs/api.md, "E-mail". */
export const maxAttachments = 10;
export const maxAttachedBytes = 10 * MIB;
const attachmentsForm = `must be up to ${maxAttachments} ids of files of the project: upload them first (POST /storage/upload)`;
const asAttachments = 'Files go along as "attachments": ids of files (POST /storage/upload).';

const base = { service: 'email' } as const;

export const sendEmail = defineRoute({
  ...base,
  plane: 'runtime',
  ...forgiving,
  operationId: 'sendEmail',
  method: 'POST',
  path: '/email/send',
  summary: 'Send an HTML e-mail, in own words or those of a template',
  callers,
  limit: 'email',
  body: z
    .object({
      to: z
        .union(
          [z.enum(['owner', 'caller']), recipient, z.array(recipient).min(1).max(maxRecipients)],
          {
            error: ({ input }) =>
              Array.isArray(input)
                ? `must be 1 to ${maxRecipients} e-mail addresses`
                : 'must be an e-mail address, a list of them, or "owner"',
          },
        )
        .optional()
        .describe(
          'One address, up to 10, or `owner`: whoever the project belongs to; with a template where that lets the caller choose',
        ),
      cc: z
        .union([recipient, z.array(recipient).min(1).max(maxRecipients)], {
          error: 'must be an e-mail address or a list of them',
        })
        .optional()
        .describe('In copy; with `to` and `bcc` at most 10 addresses, and none beside `owner`'),
      bcc: z
        .union([recipient, z.array(recipient).min(1).max(maxRecipients)], {
          error: 'must be an e-mail address or a list of them',
        })
        .optional()
        .describe('In blind copy, which no reader of the mail sees; bounded as `cc`'),
      replyTo: recipient.optional().describe('Where answers go'),
      attachments: z
        .array(z.uuid({ error: attachmentsForm }), { error: attachmentsForm })
        .max(maxAttachments, { error: attachmentsForm })
        .optional()
        .describe('Ids of files that the caller may read; together at most 10 MB'),
      subject: text(1, 200)
        .refine(
          (value) => !/\p{Cc}|\u2028|\u2029/u.test(value),
          'must be one line without control characters',
        )
        .optional(),
      html: text(1, maxHtmlBytes)
        .refine(
          (value) => countBytes(value) <= maxHtmlBytes,
          `may have at most ${maxHtmlBytes} bytes`,
        )
        .optional(),
      template: mailTemplateName
        .optional()
        .describe('The words, which the owner has set, in place of `subject` and `html`'),
      data: jsonObject(maxMailDataBytes)
        .optional()
        .describe('What the fields of the template are to say'),
    })
    .superRefine((mail, context) => {
      for (const [name, message] of mail.template === undefined
        ? problemsOfWords(mail)
        : problemsOfTemplate(mail))
        context.addIssue({ code: 'custom', path: [name], message });
      for (const name of ['cc', 'bcc'] as const)
        if (mail[name] !== undefined && mail.to === 'owner')
          context.addIssue({ code: 'custom', path: [name], message: besideOwner });
    })
    .refine((mail) => countRecipients(mail) <= maxRecipients, {
      path: ['to'],
      error: `may have at most ${maxRecipients} addresses together with "cc" and "bcc"`,
    }),
  refuses: {
    sendAt: atOnce,
    sendLater: atOnce,
    scheduledAt: atOnce,
    scheduleAt: atOnce,
    schedule: atOnce,
    deliverAt: atOnce,
    deliveryTime: atOnce,
    delay: atOnce,
    delaySeconds: atOnce,
    delayMs: atOnce,
    templateId: asTemplate,
    templateData: asTemplate,
    templateModel: asTemplate,
    dynamicTemplateData: asTemplate,
    variables: asTemplate,
    substitutions: asTemplate,
    mergeVars: asTemplate,
    personalizations: asTemplate,
    attachment: asAttachments,
    files: asAttachments,
    file: asAttachments,
    inline: 'A mail carries no inline files: put the address of a public one into "html".',
  },
  elsewhere: {
    from: 'Mails come from the project at the platform\'s address; answers go to "replyTo".',
  },
  response: ok,
  status: 200,
  errors: [
    'invalid_body',
    'out_of_credits',
    'recipient_not_allowed',
    'conflict',
    'visitor_budget',
    'sending_stopped',
    'overloaded',
  ],
  price: {
    ...mailPrice,
    needsBody: true,
    worstCase: ({ body }) => {
      if (typeof body !== 'object' || body === null) return 1;
      return Math.max(1, Math.min(countRecipients(body), maxRecipients));
    },
  },
});
