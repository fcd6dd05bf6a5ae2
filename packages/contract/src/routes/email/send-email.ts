import { z } from 'zod';
import { callers, defineRoute, forgiving, KIB, MIB } from '../../define-route.ts';
import { creditMillicredits, type Tariff } from '../../prices/prices.ts';
import { ok, text } from '../../schemas.ts';

/** docs/api.md, "E-mail". */
export const maxRecipients = 10;

const maxHtmlBytes = 256 * KIB;

/** RFC 5321 section 4.5.3.1, in octets. */
const maxLocalBytes = 64;

const maxAddressBytes = 254;

const utf8 = new TextEncoder();

const countBytes = (value: string) => utf8.encode(value).length;

/** RFC 5322's dot-atom, with RFC 6531's letters of all scripts; no quoted strings, no comments. */
const localPart = /^[^\s\p{C}\p{Z}"(),.:;<>@[\\\]]+(\.[^\s\p{C}\p{Z}"(),.:;<>@[\\\]]+)*$/u;

const label = '[\\p{L}\\p{N}]([\\p{L}\\p{M}\\p{N}-]{0,61}[\\p{L}\\p{M}\\p{N}])?';

/** The last label has a letter: an address of the network is no domain. */
const domain = new RegExp(`^(${label}\\.)+(?=[^.]*\\p{L})${label}$`, 'u');

const isAddress = (value: string): boolean => {
  const at = value.lastIndexOf('@');
  const [local, host] = [value.slice(0, at), value.slice(at + 1)];
  return (
    at > 0 &&
    localPart.test(local) &&
    domain.test(host) &&
    countBytes(local) <= maxLocalBytes &&
    countBytes(value) <= maxAddressBytes
  );
};

/** One address of any script: no display name, no list, nothing that could end a header. */
const recipient = z
  .string()
  .max(320, { abort: true })
  .trim()
  .normalize('NFC')
  .refine((value) => value.isWellFormed() && isAddress(value), 'must be an e-mail address');

const countAddresses = (addresses: unknown): number =>
  Array.isArray(addresses) ? addresses.length : addresses === undefined ? 0 : 1;

const countRecipients = ({ to, cc, bcc }: { to?: unknown; cc?: unknown; bcc?: unknown }) =>
  countAddresses(to) + countAddresses(cc) + countAddresses(bcc);

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

const noTemplates = 'There are no templates: send the finished "html".';

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
  summary: 'Send an HTML e-mail',
  callers,
  limit: 'email',
  body: z
    .object({
      to: z
        .union([z.literal('owner'), recipient, z.array(recipient).min(1).max(maxRecipients)], {
          error: ({ input }) =>
            Array.isArray(input)
              ? `must be 1 to ${maxRecipients} e-mail addresses`
              : 'must be an e-mail address, a list of them, or "owner"',
        })
        .describe('One address, up to 10, or `owner`: whoever the project belongs to'),
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
      subject: text(1, 200).refine(
        (value) => !/\p{Cc}|\u2028|\u2029/u.test(value),
        'must be one line without control characters',
      ),
      html: text(1, maxHtmlBytes).refine(
        (value) => countBytes(value) <= maxHtmlBytes,
        `may have at most ${maxHtmlBytes} bytes`,
      ),
    })
    .refine(({ to, cc }) => cc === undefined || to !== 'owner', {
      path: ['cc'],
      error: besideOwner,
    })
    .refine(({ to, bcc }) => bcc === undefined || to !== 'owner', {
      path: ['bcc'],
      error: besideOwner,
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
    template: noTemplates,
    templateId: noTemplates,
    templateData: noTemplates,
    templateModel: noTemplates,
    dynamicTemplateData: noTemplates,
    variables: noTemplates,
    substitutions: noTemplates,
    mergeVars: noTemplates,
    personalizations: noTemplates,
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
