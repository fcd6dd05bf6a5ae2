import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { createQueries, type Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import { z } from 'zod';
import type { DB as Tables } from '../tables.ts';

export const sessionSeconds = 8 * 60 * 60;
/** However much it is used. */
const longestSessionMs = 7 * 24 * 60 * 60_000;

/** What somebody may read in a mailbox. */
export interface Access {
  /** Whether one-time links of account mails are shown: whoever has one can open that account. */
  showsLinks: boolean;
}

const session = z.object({
  /** The owner whose projects it opens, with links hidden; or all projects, with links. */
  scope: z.string(),
  /** Epoch milliseconds. */
  expiresAt: z.number(),
  /** Epoch milliseconds: when its reader signed in. */
  openedAt: z.number().optional(),
});
type Session = z.infer<typeof session>;

export interface MailboxAccessDeps {
  database: Database;
  /** The first one signs sessions, all of them open. */
  masterKeys: readonly Buffer[];
  /** Epoch milliseconds. */
  now: () => number;
  /** Opens all mailboxes, once; undefined if there is no such key. */
  mailboxKey: string | undefined;
}

export type MailboxAccess = ReturnType<typeof createMailboxAccess>;

const allProjects = 'all';

const sha256 = (text: string) => createHash('sha256').update(text).digest();

/** Owners may read the mailboxes of their projects; the operator and the holder of the one-time key, all. */
export const createMailboxAccess = ({
  database,
  masterKeys,
  now,
  mailboxKey,
}: MailboxAccessDeps) => {
  const keys = masterKeys.map((masterKey) =>
    Buffer.from(hkdfSync('sha256', masterKey, '', 'sessions of the dev mailbox', 32)),
  );
  const signatures = (payload: string) =>
    keys.map((key) => createHmac('sha256', key).update(payload).digest());

  /** `<base64url JSON>.<base64url HMAC-SHA256>`: any process can check it. */
  const seal = (scope: string, openedAt = now()): string => {
    const content: Session = { scope, expiresAt: now() + sessionSeconds * 1000, openedAt };
    const payload = Buffer.from(JSON.stringify(content)).toString('base64url');
    return `${payload}.${signatures(payload)[0]?.toString('base64url')}`;
  };

  const open = (sealed: string): Session | undefined => {
    const [payload = '', signature = ''] = sealed.split('.');
    const given = Buffer.from(signature, 'base64url');
    const isSigned = signatures(payload).some(
      (expected) => given.length === expected.length && timingSafeEqual(given, expected),
    );
    if (!isSigned) return undefined;
    const content = session.parse(JSON.parse(Buffer.from(payload, 'base64url').toString()));
    return content.expiresAt > now() ? content : undefined;
  };

  return {
    /** Undefined if the caller may not read the mailbox of the identity's project. */
    find({ caller, project }: Identity, sessionCookie: string | undefined): Access | undefined {
      if (caller === 'operator') return { showsLinks: true };
      if (caller === 'owner') return { showsLinks: false };
      const opened = sessionCookie === undefined ? undefined : open(sessionCookie);
      if (!opened) return undefined;
      if (opened.scope === allProjects) return { showsLinks: true };
      return opened.scope === project.ownerId ? { showsLinks: false } : undefined;
    },

    /** Another session in place of one whose first half is over, for whoever still reads; undefined while there is no need. */
    renewSession(sessionCookie: string | undefined): string | undefined {
      const opened = sessionCookie === undefined ? undefined : open(sessionCookie);
      if (opened?.openedAt === undefined) return undefined;
      const isNew = opened.expiresAt - now() > (sessionSeconds * 1000) / 2;
      const isTooOld = now() - opened.openedAt > longestSessionMs;
      return isNew || isTooOld ? undefined : seal(opened.scope, opened.openedAt);
    },

    /** A session for an owner or the operator. */
    openSession: ({ caller, project }: Identity): string =>
      seal(caller === 'operator' ? allProjects : String(project.ownerId)),

    /** A session for the first caller with the right key, and undefined for all others. */
    async spendKey(key: string): Promise<string | undefined> {
      if (mailboxKey === undefined || !timingSafeEqual(sha256(key), sha256(mailboxKey)))
        return undefined;
      const { numInsertedOrUpdatedRows: spent } = await createQueries<Tables>(database)
        .insertInto('spent_mailbox_keys')
        .values({ key_hash: sha256(key), spent_at: new Date(now()) })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirstOrThrow();
      return spent === 1n ? seal(allProjects) : undefined;
    },
  };
};
