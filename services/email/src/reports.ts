import type { Database } from '@backlot/database';
import { z } from 'zod';
import type { OwnMails } from './own-mails.ts';

export interface Report {
  eventId: string;
  projectNumber: number;
  mailId: string;
  address: string;
  kind: 'bounce' | 'complaint';
}

/** Past such figures providers close accounts. */
const minMails = 200;
const maxBouncedShare = 0.05;
const maxComplainedShare = 0.001;
const windowDays = 30;
const batchSize = 500;

/** What PostgreSQL can keep. */
const text = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine((value) => value.isWellFormed() && !value.includes('\0'));

const sendgridEvent = z.object({
  event: z.string(),
  type: z.string().optional(),
  sg_event_id: text(200),
  email: text(320),
  backlot_project: z.string().regex(/^\d{1,15}$/),
  backlot_mail: z.uuid(),
});

/** A hard bounce or a complaint; undefined for everything else that SendGrid tells. */
export const reportOf = (value: unknown): Report | undefined => {
  const event = sendgridEvent.safeParse(value).data;
  if (!event) return undefined;
  // `blocked` is a bounce of this one attempt, not of the address.
  const isBounce = event.event === 'bounce' && event.type !== 'blocked';
  if (!isBounce && event.event !== 'spamreport') return undefined;
  return {
    eventId: event.sg_event_id,
    projectNumber: Number(event.backlot_project),
    mailId: event.backlot_mail,
    address: event.email,
    kind: isBounce ? 'bounce' : 'complaint',
  };
};

interface Figures {
  project_id: string | null;
  mails: number;
  bounced: number;
  complained: number;
}

const reasonToStop = ({ mails, bounced, complained }: Figures): string | undefined => {
  if (mails < minMails) return undefined;
  if (bounced > mails * maxBouncedShare) return `${bounced} of ${mails} mails bounced`;
  if (complained > mails * maxComplainedShare)
    return `${complained} of ${mails} mails were reported as spam`;
  return undefined;
};

export interface ReportsDeps {
  database: Database;
  ownMails: OwnMails;
  /** Epoch milliseconds. */
  now: () => number;
}

export type Reports = ReturnType<typeof createReports>;

/** What became of mails after they were sent: who gets no more, and which project may send no more. */
export const createReports = ({ database, ownMails, now }: ReportsDeps) => {
  /** Of mails that are ours and addresses that got them, each event once; the projects it is about. */
  const store = async (reports: readonly Report[]): Promise<number[]> => {
    const rows = await database.query<{ project_number: number }>(
      `WITH given AS (
         SELECT DISTINCT ON (project_number, event_id) *
           FROM unnest($1::bigint[], $2::text[], $3::uuid[], $4::text[], $5::text[])
             AS report (project_number, event_id, mail_id, address, kind)),
       fresh AS (
         INSERT INTO reports (project_number, event_id, mail_id, kind, created_at)
         SELECT given.project_number, given.event_id, mail_id, kind, $6
           FROM given JOIN mails ON mails.project_number = given.project_number AND mails.id = mail_id
          WHERE EXISTS (SELECT FROM unnest(recipients) AS recipient WHERE lower(recipient) = lower(address))
         ON CONFLICT DO NOTHING RETURNING project_number, event_id),
       news AS (SELECT given.* FROM given JOIN fresh USING (project_number, event_id)),
       suppressed AS (
         INSERT INTO suppressions (project_number, address, kind, created_at)
         SELECT DISTINCT ON (project_number, lower(address)) project_number, lower(address), kind, $6
           FROM news ORDER BY project_number, lower(address), kind DESC
         ON CONFLICT DO NOTHING),
       told AS (
         UPDATE mails SET error = concat_ws(' ', error, news.told)
           FROM (SELECT project_number, mail_id, string_agg(
                   CASE kind WHEN 'bounce' THEN 'Bounced from ' ELSE 'Reported as spam by ' END || address || '.', ' ') AS told
                   FROM news GROUP BY project_number, mail_id) AS news
          WHERE mails.project_number = news.project_number AND mails.id = news.mail_id)
       SELECT DISTINCT project_number FROM news`,
      [
        reports.map((each) => each.projectNumber),
        reports.map((each) => each.eventId),
        reports.map((each) => each.mailId),
        reports.map((each) => each.address),
        reports.map((each) => each.kind),
        new Date(now()),
      ],
    );
    return rows.map((row) => row.project_number);
  };

  /** Since the project was last let send again; its own mails alone, whole mails. */
  const figures = async (projectNumber: number): Promise<Figures | undefined> => {
    const [row] = await database.query<Figures>(
      `WITH since AS (
         SELECT greatest($2::timestamptz,
           (SELECT resumed_at FROM sending_stops WHERE project_number = $1)) AS at),
       sent AS (
         SELECT id, project_id FROM mails, since
          WHERE project_number = $1 AND status = 'sent' AND NOT is_own AND mails.created_at > since.at),
       reported AS (
         SELECT mail_id, kind FROM reports JOIN sent ON sent.id = mail_id WHERE project_number = $1)
       SELECT (SELECT max(project_id) FROM sent) AS project_id,
              (SELECT count(*) FROM sent) AS mails,
              (SELECT count(DISTINCT mail_id) FROM reported WHERE kind = 'bounce') AS bounced,
              (SELECT count(DISTINCT mail_id) FROM reported WHERE kind = 'complaint') AS complained`,
      [projectNumber, new Date(now() - windowDays * 24 * 60 * 60 * 1000)],
    );
    return row;
  };

  /** One of several at once stops the project, and tells its owner. */
  const judge = async (projectNumber: number): Promise<void> => {
    const counted = await figures(projectNumber);
    const reason = counted && reasonToStop(counted);
    if (!reason || counted.project_id === null) return;
    const projectId = counted.project_id;
    await database.transaction(async () => {
      const stopped = await database.query(
        `INSERT INTO sending_stops (project_number, stopped_at) VALUES ($1, $2)
         ON CONFLICT (project_number) DO UPDATE SET stopped_at = excluded.stopped_at, resumed_at = NULL
           WHERE sending_stops.resumed_at IS NOT NULL RETURNING true`,
        [projectNumber, new Date(now())],
      );
      if (stopped.length > 0) await ownMails.sendingStopped(projectId, reason);
    });
  };

  return {
    /** Anything else than reports of ours is left alone. */
    async take(values: readonly unknown[]): Promise<void> {
      const reports = values.flatMap((value) => reportOf(value) ?? []);
      const projects = new Set<number>();
      for (let at = 0; at < reports.length; at += batchSize)
        for (const each of await store(reports.slice(at, at + batchSize))) projects.add(each);
      for (const each of projects) await judge(each);
    },

    async resume(projectNumber: number): Promise<void> {
      await database.query(
        'UPDATE sending_stops SET resumed_at = $2 WHERE project_number = $1 AND resumed_at IS NULL',
        [projectNumber, new Date(now())],
      );
    },
  };
};
