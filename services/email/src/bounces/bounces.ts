import { createQueries, type Database } from '@backlot/database';
import type { TellApp } from '@backlot/service';
import type { AskedMails } from '../mails/asked-mails.ts';
import type { Sender } from '../mails/mail.ts';
import type { PlatformMails } from '../platform-mails/platform-mails.ts';
import type { DB as Tables } from '../tables.ts';
import type { Suppressions } from './suppressions.ts';

/** What a provider reported of a mail and one of its recipients. */
export interface BounceReport {
  eventId: string;
  projectNumber: number;
  mailId: string;
  address: string;
  kind: 'bounce' | 'complaint';
}

/** Providers close accounts that exceed these shares. */
const minMails = 200;
const maxBouncedShare = 0.05;
const maxComplainedShare = 0.001;
const windowDays = 30;
const batchSize = 500;

/** Who is stopped where too much comes back; who asks for mails to an own address is bounded in another way. */
type StoppedSender = Exclude<Sender, 'asked'>;
const stopTables = { project: 'sending_stops', visitors: 'visitor_stops' } as const;

interface Returned {
  project_number: number;
  sender: Sender;
  asked_from: string | null;
  mail_id: string;
  kind: BounceReport['kind'];
  address: string;
}

interface Counts {
  project_id: string | null;
  mails: number;
  bounced: number;
  complained: number;
}

const reasonToStop = ({ mails, bounced, complained }: Counts): string | undefined => {
  if (mails < minMails) return undefined;
  if (bounced > mails * maxBouncedShare) return `${bounced} of ${mails} mails bounced`;
  if (complained > mails * maxComplainedShare)
    return `${complained} of ${mails} mails were reported as spam`;
  return undefined;
};

export interface BouncesDeps {
  database: Database;
  askedMails: AskedMails;
  platformMails: PlatformMails;
  suppressions: Suppressions;
  tellApp: TellApp;
  /** Epoch milliseconds. */
  now: () => number;
}

export type Bounces = ReturnType<typeof createBounces>;

/** Bounces and complaints: they suppress addresses, and stop projects that cause too many. */
export const createBounces = ({
  database,
  platformMails,
  suppressions,
  askedMails,
  tellApp,
  now,
}: BouncesDeps) => {
  const queries = createQueries<Tables>(database);

  /** Stores each event once, if its mail is ours and went to its address. Returns who sent what came back. */
  const store = (reports: readonly BounceReport[]): Promise<Returned[]> =>
    database.query<Returned>(
      `WITH received AS (
         SELECT DISTINCT ON (project_number, event_id) *
           FROM unnest($1::bigint[], $2::text[], $3::uuid[], $4::text[], $5::text[], $7::bytea[])
             AS report (project_number, event_id, mail_id, address, kind, address_hash)),
       stored AS (
         INSERT INTO reports (project_number, event_id, mail_id, kind, created_at)
         SELECT received.project_number, received.event_id, mail_id, kind, $6
           FROM received JOIN mails ON mails.project_number = received.project_number AND mails.id = mail_id
          WHERE EXISTS (SELECT FROM unnest(recipients || bcc) AS recipient WHERE lower(recipient) = lower(address))
         ON CONFLICT DO NOTHING RETURNING project_number, event_id),
       fresh AS (SELECT received.* FROM received JOIN stored USING (project_number, event_id)),
       suppressed AS (
         INSERT INTO suppressed_addresses (project_number, address_hash, kind, created_at)
         SELECT DISTINCT ON (project_number, address_hash) project_number, address_hash, kind, $6
           FROM fresh ORDER BY project_number, address_hash, kind DESC
         ON CONFLICT DO NOTHING),
       noted AS (
         UPDATE mails SET error = concat_ws(' ', error, notes.text)
           FROM (SELECT project_number, mail_id, string_agg(
                   CASE kind WHEN 'bounce' THEN 'Bounced from ' ELSE 'Reported as spam by ' END || address || '.', ' ') AS text
                   FROM fresh GROUP BY project_number, mail_id) AS notes
          WHERE mails.project_number = notes.project_number AND mails.id = notes.mail_id)
       SELECT DISTINCT project_number, fresh.event_id, sender, asked_from, mail_id, kind, address FROM fresh
         JOIN mails USING (project_number) WHERE mails.id = mail_id`,
      [
        reports.map(({ projectNumber }) => projectNumber),
        reports.map(({ eventId }) => eventId),
        reports.map(({ mailId }) => mailId),
        reports.map(({ address }) => address),
        reports.map(({ kind }) => kind),
        new Date(now()),
        reports.map(({ projectNumber, address }) => suppressions.hash(projectNumber, address)),
      ],
    );

  const storeAndTell = (batch: readonly BounceReport[]) =>
    database.transaction(async () => {
      const returned = await store(batch);
      for (const { project_number: projectNumber, mail_id: mailId, kind, address } of returned)
        await tellApp({
          projectNumber,
          type: kind === 'bounce' ? 'mail.bounced' : 'mail.complained',
          orderKey: `mail/${mailId}`,
          data: { mailId, address },
        });
      return returned;
    });

  /** Of the last 30 days, or since they may send again. */
  const countReports = async (projectNumber: number, sender: StoppedSender) => {
    const [row] = await database.query<Counts>(
      `WITH since AS (
         SELECT greatest($2::timestamptz,
           (SELECT resumed_at FROM ${stopTables[sender]} WHERE project_number = $1)) AS at),
       sent AS (
         SELECT id, project_id FROM mails, since
          WHERE project_number = $1 AND status = 'sent' AND NOT is_own AND sender = $3 AND mails.created_at > since.at),
       reported AS (
         SELECT mail_id, kind FROM reports JOIN sent ON sent.id = mail_id WHERE project_number = $1)
       SELECT (SELECT max(project_id) FROM sent) AS project_id,
              (SELECT count(*) FROM sent) AS mails,
              (SELECT count(DISTINCT mail_id) FROM reported WHERE kind = 'bounce') AS bounced,
              (SELECT count(DISTINCT mail_id) FROM reported WHERE kind = 'complaint') AS complained`,
      [projectNumber, new Date(now() - windowDays * 24 * 60 * 60 * 1000), sender],
    );
    return row;
  };

  /** Of several calls at once one stops them and notifies the project's owner. */
  const stopIfNeeded = async (projectNumber: number, sender: StoppedSender): Promise<void> => {
    const counts = await countReports(projectNumber, sender);
    const reason = counts && reasonToStop(counts);
    if (!reason || counts.project_id === null) return;
    const projectId = counts.project_id;
    await database.transaction(async () => {
      const change = { stopped_at: new Date(now()), resumed_at: null, reason };
      const { numInsertedOrUpdatedRows: stopped } = await queries
        .insertInto(stopTables[sender])
        .values({ project_number: projectNumber, ...change })
        .onConflict((conflict) =>
          conflict
            .column('project_number')
            .doUpdateSet(change)
            .where(`${stopTables[sender]}.resumed_at`, 'is not', null),
        )
        .executeTakeFirstOrThrow();
      if (stopped !== 0n)
        await platformMails.sendStopNotice(projectId, reason, sender === 'visitors');
    });
  };

  return {
    /** Of any projects: a provider reports for all of them together. */
    async record(reports: readonly BounceReport[]): Promise<void> {
      const stoppable = new Map<string, [number, StoppedSender]>();
      for (let start = 0; start < reports.length; start += batchSize) {
        const batch = reports.slice(start, start + batchSize);
        for (const returned of await database.acrossProjects(() => storeAndTell(batch))) {
          const { project_number: project, sender, asked_from: askedFrom } = returned;
          if (sender !== 'asked') stoppable.set(`${project} ${sender}`, [project, sender]);
          else if (askedFrom !== null) await askedMails.countBounce(askedFrom);
        }
      }
      for (const [project, sender] of stoppable.values())
        await database.inProject(project, () => stopIfNeeded(project, sender));
    },

    async resumeSending(projectNumber: number): Promise<void> {
      for (const table of Object.values(stopTables))
        await queries
          .updateTable(table)
          .set({ resumed_at: new Date(now()) })
          .where('project_number', '=', projectNumber)
          .where('resumed_at', 'is', null)
          .execute();
    },
  };
};
