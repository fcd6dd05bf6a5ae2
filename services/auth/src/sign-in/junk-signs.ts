import type { NoteFindings } from '@backlot/service';
import { LRUCache } from 'lru-cache';

/** Mailboxes that anybody reads, and that are gone in an hour: those that are met most. */
const disposable = new Set<string>([
  '10minutemail.com',
  'burnermail.io',
  'dispostable.com',
  'emailondeck.com',
  'fakeinbox.com',
  'getnada.com',
  'guerrillamail.com',
  'maildrop.cc',
  'mailinator.com',
  'mailnesia.com',
  'mintemail.com',
  'moakt.com',
  'mohmal.com',
  'sharklasers.com',
  'spamgourmet.com',
  'temp-mail.org',
  'tempmail.com',
  'throwawaymail.com',
  'trashmail.com',
  'yopmail.com',
]);

/** The mail that confirms an address would carry it to somebody who never asked. */
const linkInName =
  /https?:|www\.|\b[a-z0-9-]{1,63}\.(com|net|org|info|xyz|top|ru|io|me|site|online|shop)\b/i;

/** Accounts of one mailbox, its spellings with "+" taken together, before the next one counts. */
const maxOfMailbox = 3;
const maxMailboxes = 10_000;

export interface Newcomer {
  id: string;
  email: string | null;
  name: string | null;
}

export type NoteNewcomer = (projectNumber: number, newcomer: Newcomer) => void;

/** Counts accounts that look like junk for the operator; none of it refuses a sign-up. */
export const createNoteNewcomer = (findings: Pick<NoteFindings, 'note'>): NoteNewcomer => {
  const mailboxes = new LRUCache<string, number>({ max: maxMailboxes });

  const isOfFullMailbox = (projectNumber: number, local: string, domain: string) => {
    const mailbox = `${projectNumber} ${local.split('+')[0]}@${domain}`;
    const count = (mailboxes.get(mailbox) ?? 0) + 1;
    mailboxes.set(mailbox, count);
    return count > maxOfMailbox;
  };

  return (projectNumber, { id, email, name }) => {
    const [local = '', domain = ''] = email?.split('@') ?? [];
    const signs = [
      ...(disposable.has(domain) ? ['disposableAddress'] : []),
      ...(name !== null && linkInName.test(name) ? ['linkInName'] : []),
      ...(local.includes('+') && isOfFullMailbox(projectNumber, local, domain)
        ? ['oneMailbox']
        : []),
    ];
    findings.note({ projectNumber, kind: 'junkSignUps', signs, examples: [id] });
  };
};
