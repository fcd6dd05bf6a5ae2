import {
  type FileDescription,
  type Mail,
  oneLine,
  type Payload,
  type Topic,
} from '@backlot/contract';
import type { Selectable } from 'kysely';
import type { OutgoingMail } from '../mailer/mailer.ts';
import type { Mail as MailTable } from '../tables.ts';

/**
 * Whose bounces and complaints they are: the project's (its owner's and keys'), its visitors' who choose the address,
 * or of who asks for a mail to their own.
 */
export type Sender = 'project' | 'visitors' | 'asked';

export interface NewMail {
  projectNumber: number;
  projectId: string;
  /** All whom its readers see, those in copy too. */
  recipients: readonly string[];
  /** Those of the recipients who get it in copy. */
  cc?: readonly string[];
  /** Who gets it beside them, seen by nobody. */
  bcc?: readonly string[];
  /** Why it is not sent: then it is shown to the owner, without its content. */
  refusal?: string | undefined;
  replyTo?: string | undefined;
  /** Go along. */
  files?: readonly FileDescription[];
  from: { name: string; address: string };
  /** `project` unless stated. */
  sender?: Sender;
  /** Of one that people ask for to their own address: the SHA-256 of their network address. */
  askedFrom?: string | undefined;
  subject: string;
  html: string;
  text?: string | undefined;
  /** Refused where the owner has worded mails: these are a visitor’s own words. */
  yieldsToTemplates?: boolean;
}

/** One of the platform's own mails. */
export interface NewPlatformMail extends NewMail {
  /** The event that asks for it, and makes one mail however often it comes; null if there is none. */
  eventId: string | null;
  /** Its words are the project's own. */
  isWordedByOwner?: boolean;
  /** Contains a one-time link, which only its recipient may read. */
  isSecret: boolean;
}

export const mailColumns = [
  'id',
  'created_at',
  'recipients',
  'from_name',
  'from_address',
  'subject',
  'cc',
  'bcc',
  'reply_to',
  'html',
  'plain_text',
  'status',
  'is_secret',
  'error',
  'files',
] as const;
/** What the columns hold of their types. */
export interface MailValues {
  status: 'queued' | 'sending' | 'sent' | 'captured' | 'failed';
  files: FileDescription[] | null;
}
export type MailRow = Omit<
  Pick<Selectable<MailTable>, (typeof mailColumns)[number]>,
  keyof MailValues
> &
  MailValues;

/** An event that is stored together with the mail. */
export type Event = { [T in Topic]: { topic: T; payload: Payload<T> } }[Topic];

export type Refusal = 'stopped' | 'worded' | 'too_many_waiting';

/** As people write it; the mailer encodes it for the wire. */
export const displayFrom = (name: string, address: string): string =>
  `"${oneLine(name).replace(/["\\]/g, '\\$&')}" <${address}>`;

/** One-time tokens are in the query or the fragment of a link. */
const hideTokens = (text: string) =>
  text.replace(/(https?:\/\/[^\s"<>?#]*)[?#][^\s"<>]*/g, '$1#hidden');

/** For readers who must not see links that open somebody's account. */
export const hideLinks = (row: MailRow): MailRow =>
  row.is_secret
    ? {
        ...row,
        html: hideTokens(row.html),
        plain_text: row.plain_text && hideTokens(row.plain_text),
      }
    : row;

/** Without those in copy. */
export const recipientsIn = ({ recipients, cc }: Pick<MailRow, 'recipients' | 'cc'>): string[] =>
  recipients.filter((address) => !cc.includes(address));

export const presentMail = (row: MailRow): Mail => ({
  id: row.id,
  to: recipientsIn(row),
  ...(row.cc.length > 0 && { cc: row.cc }),
  ...(row.bcc.length > 0 && { bcc: row.bcc }),
  ...(row.reply_to !== null && { replyTo: row.reply_to }),
  subject: row.subject,
  ...(row.files !== null && { attachments: row.files }),
  html: row.is_secret && row.status !== 'captured' ? '' : row.html,
  from: displayFrom(row.from_name, row.from_address),
  status: row.status === 'sending' ? 'queued' : row.status,
  ...(row.error === null ? {} : { error: row.error }),
  createdAt: row.created_at.toISOString(),
});

/** Without the content of its files. */
export const toOutgoingMail = (
  row: MailRow,
  project: { id: string; number: number },
): OutgoingMail => ({
  id: row.id,
  projectNumber: project.number,
  projectId: project.id,
  from: { name: oneLine(row.from_name), address: row.from_address },
  to: recipientsIn(row),
  cc: row.cc,
  bcc: row.bcc,
  replyTo: row.reply_to,
  subject: oneLine(row.subject),
  html: row.html,
  text: row.plain_text,
  attachments: [],
  createdAt: row.created_at,
});
