import type { Mail, Payload, Topic } from '@backlot/contract';
import type { OutgoingMail } from './mailer/mailer.ts';

export interface NewMail {
  projectNumber: number;
  projectId: string;
  recipients: readonly string[];
  from: { name: string; address: string };
  subject: string;
  html: string;
}

/** A mail of the platform itself. */
export interface NewOwnMail extends NewMail {
  text: string;
  /** The event that asks for it; a repetition makes no second mail. Null where none does. */
  eventId: string | null;
  /** Holds a one-time link, which nobody but its recipient may read. */
  isSecret: boolean;
}

export interface MailRow {
  id: string;
  created_at: Date;
  recipients: string[];
  from_name: string;
  from_address: string;
  subject: string;
  html: string;
  plain_text: string | null;
  status: 'queued' | 'sending' | 'sent' | 'captured' | 'failed';
  is_secret: boolean;
  error: string | null;
}

/** An event that is stored together with the mail. */
export type Event = { [T in Topic]: { topic: T; payload: Payload<T> } }[Topic];

export type Refusal = 'stopped' | 'too_many_waiting';

/** As people write it; the mailer encodes it for the wire. */
export const displayFrom = (name: string, address: string): string =>
  `"${name.replace(/["\\]/g, '\\$&')}" <${address}>`;

export const presentMail = (row: MailRow): Mail => ({
  id: row.id,
  to: row.recipients,
  subject: row.subject,
  html: row.is_secret && row.status !== 'captured' ? '' : row.html,
  from: displayFrom(row.from_name, row.from_address),
  status: row.status === 'sending' ? 'queued' : row.status,
  ...(row.error === null ? {} : { error: row.error }),
  createdAt: row.created_at.toISOString(),
});

export const outgoingOf = (
  row: MailRow,
  project: { id: string; number: number },
): OutgoingMail => ({
  id: row.id,
  projectNumber: project.number,
  projectId: project.id,
  from: { name: row.from_name, address: row.from_address },
  to: row.recipients,
  subject: row.subject,
  html: row.html,
  text: row.plain_text,
  createdAt: row.created_at,
});
